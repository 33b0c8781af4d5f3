// The panel: reads the fields, asks the functions above, shows the answer. Nothing is sent anywhere.
const at = (id) => document.getElementById(id);
const shortNumber = (value) => {
  if (value === 0) return "0";
  const text = Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4 ? value.toExponential(3) : String(+value.toPrecision(4));
  return text.replace("-", "−");
};
const signed = (value) => (value > 0 ? "+" : "") + shortNumber(value);

function readField(field) {
  if (field.may_be_missing && at(`${field.id}-missing`).checked) return null;
  const control = at(field.id);
  if (field.is_text) return field.options[control.selectedIndex][1];
  const value = control.value.trim() === "" ? NaN : Number(control.value);
  control.ariaInvalid = String(!Number.isFinite(value));
  if (!Number.isFinite(value)) throw new RangeError(`${field.label}: a number is needed.`);
  return value;
}

function percent(chance) {
  if (chance >= 0.9995 && chance < 1) return "more than 99.9%";
  return `${(100 * chance).toFixed(1)}%`;
}

function explainScore(z, prototype) {
  const which = z.length === 1 ? "The score" : `Prototype ${prototype + 1} of ${z.length}`;
  if (CLASSES.length > 2) {
    const others = z.map((_, j) => j).filter((j) => OWNERS[j] !== OWNERS[prototype]);
    const ahead = (j, best) => z[j] > z[best] || (z[j] === z[best] && OWNERS[j] < OWNERS[best]);
    const next = others.reduce((best, j) => (ahead(j, best) ? j : best));
    const lead = shortNumber(z[prototype] - z[next]);
    const rival = `the next class is ${NAMES[OWNERS[next]]} with ${signed(z[next])}, ${lead} less`;
    return `${which} has the highest score, ${signed(z[prototype])}; ${rival}.`;
  }
  const fired = winner(z).label === OWNERS[prototype];
  if (z.length === 1) return `The score is ${signed(z[prototype])}; the decision changes at 0.`;
  if (fired) return `${which} decides, with ${signed(z[prototype])}; the decision changes at 0.`;
  const nearest = `the nearest is number ${prototype + 1} with ${signed(z[prototype])}`;
  const none = OWNERS[0] === 1 ? "is above 0" : "reaches 0";
  return `No prototype ${none}, where the decision changes; ${nearest}.`;
}

function addLine(body, words, value, largest) {
  const line = body.insertRow();
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = words;
  line.append(head);
  const amount = line.insertCell();
  amount.className = "number";
  amount.textContent = signed(value);
  const cell = line.insertCell();
  cell.className = "bar-cell";
  const bar = document.createElement("span");
  bar.className = value < 0 ? "bar minus" : "bar plus";
  bar.style.width = `${largest > 0 ? (50 * Math.abs(value)) / largest : 0}%`;
  cell.append(bar);
}

function show() {
  const decisionPlace = at("decision");
  const body = at("contributions").tBodies[0];
  body.replaceChildren();
  try {
    const x = FIELDS.map(readField);
    const z = scores(x);
    const { prototype, label } = winner(z);
    const parts = contributions(x)[prototype];
    const chance = probabilities(x)[label];
    decisionPlace.textContent = `${NAMES[label]} (${percent(chance)})`;
    decisionPlace.dataset.label = String(label);
    decisionPlace.dataset.score = String(z[prototype]);
    decisionPlace.dataset.scores = JSON.stringify(z);
    decisionPlace.dataset.prototype = String(prototype);
    decisionPlace.dataset.probability = String(chance);
    at("why").textContent = explainScore(z, prototype);
    const largest = Math.max(Math.abs(INTERCEPTS[prototype]), ...parts.map(Math.abs));
    addLine(body, "to begin with", INTERCEPTS[prototype], largest);
    parts.forEach((part, i) => addLine(body, WORDS[prototype][i], part, largest));
    at("total").textContent = signed(z[prototype]);
  } catch (problem) {
    decisionPlace.textContent = "No answer";
    for (const name of Object.keys(decisionPlace.dataset)) delete decisionPlace.dataset[name];
    at("why").textContent = problem.message;
    at("total").textContent = "";
  }
}

function connect(field) {
  const control = at(field.id);
  if (!field.is_text) {
    const slider = at(`${field.id}-slider`);
    slider.addEventListener("input", () => { control.value = slider.value; show(); });
    control.addEventListener("input", () => { if (control.value !== "") slider.value = control.value; show(); });
  } else {
    control.addEventListener("input", show);
  }
  if (field.may_be_missing) {
    const box = at(`${field.id}-missing`);
    box.addEventListener("input", () => {
      control.disabled = box.checked;
      if (!field.is_text) at(`${field.id}-slider`).disabled = box.checked;
      show();
    });
  }
}

function reset() {
  for (const field of FIELDS) {
    const control = at(field.id);
    if (field.is_text) {
      control.selectedIndex = field.options.findIndex((option) => option[1] === field.start);
    } else {
      control.value = String(field.start);
      at(`${field.id}-slider`).value = String(field.start);
    }
    control.disabled = false;
    if (field.may_be_missing) {
      at(`${field.id}-missing`).checked = false;
      if (!field.is_text) at(`${field.id}-slider`).disabled = false;
    }
  }
  show();
}

at("panel").hidden = false;
FIELDS.forEach(connect);
at("panel").addEventListener("submit", (event) => event.preventDefault());
at("reset").addEventListener("click", reset);
reset();
