// What if: reads the fields, asks the model, shows the decision, why, and what would change it. Nothing is sent anywhere.
const usedPlaces = () => new Set(shownView().inputs);
const kept = [];

function readField(field) {
  if (field.may_be_missing && at(`${field.id}-missing`).checked) return null;
  const control = at(field.id);
  if (field.is_text) return field.options[control.selectedIndex][1];
  const value = control.value.trim() === "" ? NaN : Number(control.value);
  control.ariaInvalid = String(!Number.isFinite(value));
  if (!Number.isFinite(value)) throw new RangeError(`${field.label}: enter a number.`);
  return value;
}

// The value of each field in use; null for the others.
const readValues = () => PAGE.fields.map((field, place) => (usedPlaces().has(place) ? readField(field) : null));

function writeField(field, value) {
  const control = at(field.id);
  const box = field.may_be_missing ? at(`${field.id}-missing`) : null;
  const given = value ?? field.start ?? (field.is_text ? field.options[0][1] : field.low);
  if (field.is_text) {
    const place = field.options.findIndex((option) => option[1] === given);
    control.selectedIndex = place < 0 ? field.options.length - 1 : place;
  } else {
    control.value = String(given);
    at(`${field.id}-slider`).value = String(given);
  }
  if (box) box.checked = value === null;
  enable(field);
}

function enable(field) {
  const isMissing = field.may_be_missing && at(`${field.id}-missing`).checked;
  at(field.id).disabled = isMissing;
  if (!field.is_text) at(`${field.id}-slider`).disabled = isMissing;
}

function valueText(field, value) {
  if (value === null) return "missing";
  const unit = field.unit ? ` ${field.unit}` : "";
  return typeof value === "number" ? plain(value) + unit : `${value}${unit}`;
}

function explainCosts(model, label, chances) {
  const expected = PAGE.classes.map((_, k) => chances.reduce((sum, chance, i) => sum + chance * model.COSTS[i][k], 0));
  const next = expected.map((_, k) => k).filter((k) => k !== label).reduce((i, k) => (expected[k] < expected[i] ? k : i));
  const rival = `the next class is ${PAGE.classes[next]} with ${shortNumber(expected[next])}`;
  return `${PAGE.classes[label]} has the least expected cost, ${shortNumber(expected[label])}; ${rival}.`;
}

// The best prototype of another class; with offsets, if these decide.
function rivalOf(model, z, prototype) {
  const offsets = offsetsOf(model);
  const shifted = offsets ? z.map((one, j) => one + offsets[model.OWNERS[j]]) : z;
  const others = shifted.map((_, j) => j).filter((j) => model.OWNERS[j] !== model.OWNERS[prototype]);
  if (!others.length) return null;
  const ahead = (j, i) => shifted[j] > shifted[i] || (shifted[j] === shifted[i] && model.OWNERS[j] < model.OWNERS[i]);
  const next = others.reduce((i, j) => (ahead(j, i) ? j : i));
  return { next, shifted };
}

function explainScore(model, z, prototype) {
  const rival = rivalOf(model, z, prototype);
  if (rival !== null) {
    const { next, shifted } = rival;
    const lead = shortNumber(shifted[prototype] - shifted[next]);
    const told = `${signed(shifted[prototype])}; the next class is ${PAGE.classes[model.OWNERS[next]]} with ${signed(shifted[next])}`;
    const name = shownView().scoreNames[prototype];
    return `The ${name} is highest${offsetsOf(model) ? " with its offset" : ""}, ${told}, ${lead} lower.`;
  }
  const best = z[prototype];
  const cut = cutOf(model);
  const isCard = shownView().zero !== null;
  const side = `${best > cut ? "Above" : best < cut ? "Below" : "At"} the threshold of ${shortNumber(totalOf(cut))}`;
  const score = !isCard ? `score ${signed(best)}` : `${shortNumber(totalOf(best))} points`;
  if (z.length === 1) return `${side}: ${score}.`;
  return `${side}: best ${score} (number ${prototype + 1} of ${z.length}).`;
}

// The points of a score card, counted from 0, in place of a score.
function totalOf(score) {
  return (shownView().zero ?? 0) + score;
}

// --- why -----------------------------------------------------------------------------------------------------------

function addLine(text, value, largest) {
  const line = at("contributions").tBodies[0].insertRow();
  line.append(headed(text));
  line.dataset.points = String(value);
  const amount = line.insertCell();
  amount.className = "number";
  amount.textContent = signed(value);
  const cell = line.insertCell();
  cell.className = "bar-cell";
  const bar = made("span", "", value < 0 ? "bar minus" : "bar plus");
  bar.style.width = `${largest > 0 ? (50 * Math.abs(value)) / largest : 0}%`;
  cell.append(bar);
}

// What each term adds, more than on the average row; to the score that decides, less that of the next class.
function showWhy(model, z, prototype, parts) {
  const { texts, means } = shownView();
  const rival = rivalOf(model, z, prototype);
  const added = new Map();
  let start = 0;
  const add = (j, sign) => {
    start += sign * model.INTERCEPTS[j];
    parts[j].forEach((part, i) => {
      const mean = means === null ? 0 : means[j][i];
      start += sign * mean;
      added.set(texts[j][i], (added.get(texts[j][i]) ?? 0) + sign * (part - mean));
    });
  };
  add(prototype, 1);
  if (rival !== null) add(rival.next, -1);
  const lines = [...added].sort(([, one], [, other]) => Math.abs(other) - Math.abs(one));
  const largest = Math.max(0, ...lines.map(([, value]) => Math.abs(value)));
  const base = at("base");
  const { zero } = shownView();
  start += zero ?? 0;
  base.replaceChildren(headed(means === null ? "constant" : "average row"), made("td", signed(start), "number"), made("td", ""));
  base.dataset.points = String(start);
  for (const [text, value] of lines) addLine(text, value, largest);
  const total = rival === null ? totalOf(z[prototype]) : z[prototype] - z[rival.next];
  at("total").textContent = zero === null ? signed(total) : shortNumber(total);
  const [own, other] = [prototype, rival?.next].map((j) => j === undefined || PAGE.classes[model.OWNERS[j]]);
  const than = rival === null ? `the score for ${own}` : `the lead of ${own} over ${other}`;
  write(at("why-caption"), `What each value adds to ${than}${means === null ? "" : ", compared with the average row"}`);
}

function showChances(chances, label) {
  [...at("probabilities").tBodies[0].rows].forEach((row, k) => {
    row.cells[1].textContent = chances === null ? "" : chanceText(chances[k]);
    row.cells[2].firstElementChild.style.width = chances === null ? "0" : `${100 * chances[k]}%`;
    row.classList.toggle("own", k === label);
    row.dataset.chance = chances === null ? "" : String(chances[k]);
  });
}

// The terms that fall short most of what they can add, of the best prototype that counts; none if there is no answer.
function showCodes(z, every) {
  const { codes } = shownView();
  if (codes === null) return;
  const best = z && codes.prototypes.reduce((one, other) => (z[other.place] > z[one.place] ? other : one));
  const short = z ? best.terms.map(({ most, words }, i) => ({ by: most - codes.sign * every[best.place][i], words })) : [];
  const held = short.filter(({ by }) => by > 0).sort((one, other) => other.by - one.by).slice(0, codes.number);
  at("codes").replaceChildren(...held.map(({ words }) => made("li", words)));
  at("no-codes").hidden = held.length > 0 || !z;
}

// --- what would change it --------------------------------------------------------------------------------------------

function freeFeatures() {
  const free = [...usedPlaces()].filter((place) => at(`${PAGE.fields[place].id}-free`).checked).sort((a, b) => a - b);
  const held = PAGE.fields.map((field) => {
    if (field.is_text) return null;
    const [least, most] = ["least", "most"].map((end) => at(`${field.id}-${end}`).value.trim());
    return [least === "" ? -Infinity : Number(least), most === "" ? Infinity : Number(most)];
  });
  return { free, held };
}

function changeText({ place, from, to }) {
  const field = PAGE.fields[place];
  return `${field.label} from ${valueText({ ...field, unit: null }, from)} to ${valueText(field, to)}`;
}

function flipText({ changes, label }) {
  return `${listed(changes.map(changeText))}: predicts ${PAGE.classes[label]}`;
}

const NO_CHANGE = at("no-changes")?.textContent;
const TOGETHER = "No change of one or two features within the ranges below, but these together:";

let waiting = null;
function showFlips(values, label) {
  if (waiting !== null) cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => {
    waiting = null;
    const list = at("changes");
    const { free, held } = freeFeatures();
    const none = { alone: [], pair: null, several: null };
    const { alone, pair, several } = values === null ? none : smallestChanges(values, label, free, held);
    const flips = [...alone, pair, several].filter(Boolean).sort((one, other) => one.size - other.size);
    list.replaceChildren(...flips.slice(0, 6).map((flip) => made("li", flipText(flip))));
    list.dataset.flips = JSON.stringify(flips);
    at("no-changes").hidden = values === null || (flips.length > 0 && !several);
    at("no-changes").textContent = several ? TOGETHER : NO_CHANGE;
  });
}

// --- all together ----------------------------------------------------------------------------------------------------

function markOutside(field, value) {
  const note = at(`${field.id}-outside`);
  const isOutside = typeof value === "number" && field.known !== null && !field.is_text && (value < field.known[0] || value > field.known[1]);
  note.hidden = !isOutside;
  if (isOutside) note.textContent = `outside the training range, ${plain(field.known[0])} to ${plain(field.known[1])}`;
}

function updatePanel() {
  const decision = at("decision");
  if (decision === null) return;
  at("contributions").tBodies[0].replaceChildren();
  try {
    const values = readValues();
    PAGE.fields.forEach((field, place) => markOutside(field, values[place]));
    const model = shownModel();
    const x = shownView().inputs.map((place) => values[place]);
    const z = model.scores(x);
    const { prototype, label } = decide(model, z);
    const every = model.contributions(x);
    const chances = model.probabilities(x);
    showCodes(z, every);
    write(decision, `${PAGE.classes[label]} (${chanceText(chances[label])})`);
    Object.assign(decision.dataset, {
      label, prototype, score: z[prototype], scores: JSON.stringify(z), probability: chances[label],
    });
    write(at("why"), model.COSTS ? explainCosts(model, label, chances) : explainScore(model, z, prototype));
    showChances(chances, label);
    showWhy(model, z, prototype, every);
    showFlips(values, label);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    decision.textContent = "No prediction";
    showCodes(null, null);
    for (const name of Object.keys(decision.dataset)) delete decision.dataset[name];
    write(at("why"), error.message);
    at("base").replaceChildren();
    at("total").textContent = "";
    showChances(null, null);
    showFlips(null, null);
  }
}

// Fields of features that the model shown does not read are hidden.
function showFields() {
  const used = usedPlaces();
  PAGE.fields.forEach((field, place) => {
    at(`${field.id}-field`).hidden = !used.has(place);
    at(`${field.id}-change`).hidden = !used.has(place);
  });
}

function load(values) {
  PAGE.fields.forEach((field, place) => writeField(field, values[place]));
  updatePanel();
}

function keep() {
  const name = at("state-name").value.trim() || `case ${kept.length + 1}`;
  kept.push({ name, values: PAGE.fields.map((field, place) => (usedPlaces().has(place) ? readField(field) : field.start)) });
  const button = made("button", `${name}: ${at("decision").textContent}`);
  button.type = "button";
  const { values } = kept.at(-1);
  button.addEventListener("click", () => load(values));
  const item = document.createElement("li");
  item.append(button);
  at("states").append(item);
  at("state-name").value = "";
}

function connect(field) {
  const control = at(field.id);
  if (!field.is_text) {
    const slider = at(`${field.id}-slider`);
    slider.addEventListener("input", () => { control.value = slider.value; updatePanel(); });
    control.addEventListener("input", () => { if (control.value !== "") slider.value = control.value; updatePanel(); });
    for (const end of ["least", "most"]) at(`${field.id}-${end}`).addEventListener("input", updatePanel);
  } else {
    control.addEventListener("input", updatePanel);
  }
  at(`${field.id}-free`).addEventListener("input", updatePanel);
  if (field.may_be_missing) {
    at(`${field.id}-missing`).addEventListener("input", () => { enable(field); updatePanel(); });
  }
}

if (at("panel") !== null) {
  at("panel").hidden = false;
  PAGE.fields.forEach(connect);
  at("panel").addEventListener("submit", (event) => event.preventDefault());
  at("reset").addEventListener("click", () => load(PAGE.fields.map((field) => field.start)));
  at("keep").addEventListener("click", () => { if (at("decision").dataset.label !== undefined) keep(); });
  if (at("row") !== null) {
    at("row").addEventListener("input", () => {
      const row = PAGE.rows[at("row").selectedIndex - 1];
      if (row) load(row.values);
    });
  }
}
