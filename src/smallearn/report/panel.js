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

function explainCosts(label, chances) {
  const costs = CLASSES.map((_, k) => chances.reduce((sum, chance, i) => sum + chance * COSTS[i][k], 0));
  const next = costs.map((_, k) => k).filter((k) => k !== label).reduce((i, k) => (costs[k] < costs[i] ? k : i));
  const rival = `the next class is ${NAMES[next]} with ${shortNumber(costs[next])}`;
  return `${NAMES[label]} has the least expected cost, ${shortNumber(costs[label])}; ${rival}.`;
}

function explainScore(scores, prototype) {
  const z = DECIDES === "offsets" ? scores.map((one, j) => one + OFFSETS[OWNERS[j]]) : scores;
  const best = z[prototype];
  if (CLASSES.length > 2) {
    const others = z.map((_, j) => j).filter((j) => OWNERS[j] !== OWNERS[prototype]);
    const ahead = (j, i) => z[j] > z[i] || (z[j] === z[i] && OWNERS[j] < OWNERS[i]);
    const next = others.reduce((i, j) => (ahead(j, i) ? j : i));
    const rival = `the next class is ${NAMES[OWNERS[next]]} with ${signed(z[next])}`;
    const lead = `${signed(best)}; ${rival}, ${shortNumber(best - z[next])} lower`;
    return `The ${SCORE_NAMES[prototype]} is highest${DECIDES === "offsets" ? " with its offset" : ""}, ${lead}.`;
  }
  const side = `${best > CUT ? "Above" : best < CUT ? "Below" : "At"} the threshold of ${shortNumber(CUT)}`;
  if (z.length === 1) return `${side}: score ${signed(best)}.`;
  return `${side}: best score ${signed(best)} (number ${prototype + 1} of ${z.length}).`;
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

// What each term adds to every score, where these share their terms: a row of the card for each term.
function cardLine(part, text, cells, prototype) {
  const line = part.insertRow();
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = text;
  line.append(head);
  cells.forEach((value, j) => {
    const cell = line.insertCell();
    cell.className = j === prototype ? "number hit" : "number";
    cell.textContent = value === null ? "·" : signed(value);
  });
}

function showCard(table, parts, z, prototype) {
  table.className = "shared";
  table.tHead.replaceChildren();
  const names = table.tHead.insertRow();
  ["term", ...CARD.heads].forEach((name, place) => {
    const head = document.createElement("th");
    head.scope = "col";
    head.className = place ? "number" : "";
    head.textContent = name;
    names.append(head);
  });
  const body = table.tBodies[0];
  cardLine(body, "constant", INTERCEPTS, prototype);
  for (const { text, places } of CARD.rows) {
    cardLine(body, text, places.map((place, j) => (place === null ? null : parts[j][place])), prototype);
  }
  table.tFoot.replaceChildren();
  cardLine(table.tFoot, "score", z, prototype);
}

// The terms that fall short most of what they can add, of the best prototype that counts; none if there is no answer.
function showCodes(z, every) {
  if (CODES === null) return;
  const best = z && CODES.prototypes.reduce((one, other) => (z[other.place] > z[one.place] ? other : one));
  const short = z ? best.terms.map(({ most, words }, i) => ({ by: most - CODES.sign * every[best.place][i], words })) : [];
  const held = short.filter(({ by }) => by > 0).sort((one, other) => other.by - one.by).slice(0, CODES.number);
  at("codes").replaceChildren(...held.map(({ words }) => {
    const line = document.createElement("li");
    line.textContent = words;
    return line;
  }));
  at("no-codes").hidden = held.length > 0 || !z;
}

function update() {
  const decision = at("decision");
  const body = at("contributions").tBodies[0];
  body.replaceChildren();
  try {
    const x = FIELDS.map(readField);
    const z = scores(x);
    const { prototype, label } = winner(z);
    const every = contributions(x);
    const parts = every[prototype];
    const chances = probabilities(x);
    const chance = chances[label];
    showCodes(z, every);
    decision.textContent = `${NAMES[label]} (${percent(chance)})`;
    decision.dataset.label = String(label);
    decision.dataset.score = String(z[prototype]);
    decision.dataset.scores = JSON.stringify(z);
    decision.dataset.prototype = String(prototype);
    decision.dataset.probability = String(chance);
    at("why").textContent = DECIDES === "costs" ? explainCosts(label, chances) : explainScore(z, prototype);
    if (CARD !== null) {
      showCard(at("contributions"), every, z, prototype);
      return;
    }
    const largest = Math.max(Math.abs(INTERCEPTS[prototype]), ...parts.map(Math.abs));
    addLine(body, "constant", INTERCEPTS[prototype], largest);
    parts.forEach((part, i) => addLine(body, TERM_TEXTS[prototype][i], part, largest));
    at("total").textContent = signed(z[prototype]);
  } catch (error) {
    decision.textContent = "No prediction";
    showCodes(null, null);
    for (const name of Object.keys(decision.dataset)) delete decision.dataset[name];
    at("why").textContent = error.message;
    if (CARD === null) at("total").textContent = "";
    else at("contributions").tFoot.replaceChildren();
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
