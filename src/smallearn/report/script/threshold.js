// Two classes: what a threshold means for the rows. Their numbers at each threshold were counted when the page was made.
const counted = PAGE.views.map(() => null);

function summed(text) {
  let total = 0;
  return text.split(",").map((step) => (total += Number(step)));
}

// The rows predicted as the second class, of the second and of the first.
function countsAt(view, step) {
  const { counts } = PAGE.views[view];
  if (step === null) return counts.own;
  counted[view] ??= { hits: summed(counts.hits), false: summed(counts.false) };
  return [counted[view].hits[step - 1], counted[view].false[step - 1]];
}

const stepOf = (threshold) => Math.round(threshold * 1000);

// Counts from the side of the class that the page speaks of.
function tableAt(view, step) {
  const [second, first] = countsAt(view, step);
  const [n0, n1] = PAGE.sizes;
  const [hits, wrong] = PAGE.positive === 1 ? [second, first] : [n0 - first, n1 - second];
  const [members, others] = PAGE.positive === 1 ? [n1, n0] : [n0, n1];
  return { hits, wrong, missed: members - hits, rejected: others - wrong, members, others };
}

function verdictOf({ hits, wrong, members, others }) {
  const flagged = hits + wrong;
  const rows = members + others;
  const common = members > others ? PAGE.positive : 1 - PAGE.positive;
  const right = percentOf(hits + others - wrong, rows);
  const guess = `always guessing ${PAGE.classes[common]} gets ${percentOf(Math.max(members, others), rows)}`;
  const found = members ? `inds ${ofHundred(hits, members)} ${PAGE.rowsText}; ` : "inds none, as there are none; ";
  const flags = flagged ? `${ofHundred(hits, flagged)} flagged are right` : "it flags none";
  if (1000 * members >= PAGE.balanced * rows) return `Right on ${right} of the rows; ${guess}. F${found}${flags}.`;
  return `F${found}${flags}; ${guess}. Right on ${right} of all rows.`;
}

const costs = () => ["cost-missed", "cost-false"].map((id) => Number(at(id).value));
const costOf = (table, [missed, wrong]) =>
  (table.missed * missed + table.wrong * wrong) / (table.members + table.others);

function hundredths(part, whole) {
  const rounded = Math.floor((200 * part + whole) / (2 * whole));
  return `${Math.floor(rounded / 100)}.${String(rounded % 100).padStart(2, "0")}`;
}

function figuresOf(table) {
  const flagged = table.hits + table.wrong;
  const rows = table.members + table.others;
  return {
    flagged: percentOf(flagged, rows),
    precision: percentOf(table.hits, flagged),
    recall: percentOf(table.hits, table.members),
    specificity: percentOf(table.rejected, table.others),
    accuracy: percentOf(table.hits + table.rejected, rows),
    lift: flagged && table.members ? hundredths(table.hits * rows, flagged * table.members) : "–",
    gain: table.members
      ? `${percentOf(flagged, rows)} of the rows hold ${percentOf(table.hits, table.members)} of ${PAGE.classes[PAGE.positive]}`
      : "–",
    cost: costs().every(Number.isFinite) ? shortNumber(costOf(table, costs())) : "–",
  };
}

const thresholdText = () => String(state.threshold);

function showThreshold() {
  at("threshold").value = String(state.threshold);
  at("threshold-value").textContent = thresholdText();
  at("threshold").setAttribute("aria-valuetext", `probability ${thresholdText()}`);
  at("own-threshold").disabled = state.isOwn;
  at("own-threshold").textContent = `Model's own: ${shownView().threshold}`;
  at("other-threshold").hidden = state.isOwn;
  for (const line of document.querySelectorAll("[data-cut]")) {
    const { from, wide } = line.dataset;
    line.setAttribute("transform", `translate(${Number(from) + state.threshold * Number(wide)})`);
  }
  for (const place of document.querySelectorAll("[data-threshold]")) place.textContent = thresholdText();
  if (PAGE.sizes === null) return;
  const table = tableAt(state.view, state.isOwn ? null : stepOf(state.threshold));
  write(at("verdict"), verdictOf(table));
  for (const cell of document.querySelectorAll("[data-count]")) {
    cell.textContent = table[cell.dataset.count].toLocaleString("en-US");
  }
  for (const [name, text] of Object.entries(figuresOf(table))) {
    const cell = document.querySelector(`[data-figure="${name}"]`);
    if (cell) write(cell, text);
  }
}

function setThreshold(value) {
  const step = value === null ? null : Math.min(PAGE.steps, Math.max(1, stepOf(value)));
  const own = shownView().threshold;
  state.isOwn = step === null || step / 1000 === own;
  state.threshold = state.isOwn ? own : step / 1000;
  showThreshold();
  updatePanel();
}

// The threshold of least cost on these rows; of several the one nearest to the model's own.
function cheapest() {
  const price = costs();
  const own = shownView().threshold;
  let best = null;
  let least = costOf(tableAt(state.view, null), price);
  for (let step = 1; step <= PAGE.steps; step += 1) {
    const cost = costOf(tableAt(state.view, step), price);
    const nearer = best !== null && cost === least && Math.abs(step / 1000 - own) < Math.abs(best / 1000 - own);
    if (cost < least || nearer) [best, least] = [step, cost];
  }
  return best === null ? null : best / 1000;
}

if (isTwo) {
  at("threshold").addEventListener("input", () => setThreshold(Number(at("threshold").value)));
  at("own-threshold").addEventListener("click", () => setThreshold(null));
  if (PAGE.sizes !== null) {
    at("least-cost").addEventListener("click", () => setThreshold(cheapest()));
    for (const id of ["cost-missed", "cost-false"]) at(id).addEventListener("input", showThreshold);
  }
}
