// The panel: reads the fields, calls the exported functions above, shows the decision. Nothing is sent anywhere.
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
  if (!Number.isFinite(value)) throw new RangeError(`${field.label}: enter a number.`);
  return value;
}

function percent(chance) {
  if (chance >= 0.9995 && chance < 1) return "more than 99.9%";
  return `${(100 * chance).toFixed(1)}%`;
}

function explainScore(z, prototype) {
  const best = z[prototype];
  if (CLASSES.length > 2) {
    const others = z.map((_, j) => j).filter((j) => OWNERS[j] !== OWNERS[prototype]);
    const ahead = (j, i) => z[j] > z[i] || (z[j] === z[i] && OWNERS[j] < OWNERS[i]);
    const next = others.reduce((i, j) => (ahead(j, i) ? j : i));
    const rival = `the next class is ${NAMES[OWNERS[next]]} with ${signed(z[next])}`;
    return `The ${SCORE_NAMES[prototype]} is highest, ${signed(best)}; ${rival}, ${shortNumber(best - z[next])} lower.`;
  }
  const side = best > 0 ? "Above" : best < 0 ? "Below" : "At";
  if (z.length === 1) return `${side} the threshold of 0: score ${signed(best)}.`;
  return `${side} the threshold of 0: best score ${signed(best)} (number ${prototype + 1} of ${z.length}).`;
}

function addLine(body, label, value, largest) {
  const line = body.insertRow();
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = label;
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

function update() {
  const decision = at("decision");
  const body = at("contributions").tBodies[0];
  body.replaceChildren();
  try {
    const x = FIELDS.map(readField);
    const z = scores(x);
    const { prototype, label } = winner(z);
    const parts = contributions(x)[prototype];
    const chance = probabilities(x)[label];
    decision.textContent = `${NAMES[label]} (${percent(chance)})`;
    decision.dataset.label = String(label);
    decision.dataset.score = String(z[prototype]);
    decision.dataset.scores = JSON.stringify(z);
    decision.dataset.prototype = String(prototype);
    decision.dataset.probability = String(chance);
    at("why").textContent = explainScore(z, prototype);
    const largest = Math.max(Math.abs(INTERCEPTS[prototype]), ...parts.map(Math.abs));
    addLine(body, "constant", INTERCEPTS[prototype], largest);
    parts.forEach((part, i) => addLine(body, TERM_TEXTS[prototype][i], part, largest));
    at("total").textContent = signed(z[prototype]);
  } catch (error) {
    decision.textContent = "No prediction";
    for (const name of Object.keys(decision.dataset)) delete decision.dataset[name];
    at("why").textContent = error.message;
    at("total").textContent = "";
  }
}

function connect(field) {
  const control = at(field.id);
  if (!field.is_text) {
    const slider = at(`${field.id}-slider`);
    slider.addEventListener("input", () => { control.value = slider.value; update(); });
    control.addEventListener("input", () => { if (control.value !== "") slider.value = control.value; update(); });
  } else {
    control.addEventListener("input", update);
  }
  if (field.may_be_missing) {
    const box = at(`${field.id}-missing`);
    box.addEventListener("input", () => {
      control.disabled = box.checked;
      if (!field.is_text) at(`${field.id}-slider`).disabled = box.checked;
      update();
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
  update();
}

at("panel").hidden = false;
FIELDS.forEach(connect);
at("panel").addEventListener("submit", (event) => event.preventDefault());
at("reset").addEventListener("click", reset);
reset();
