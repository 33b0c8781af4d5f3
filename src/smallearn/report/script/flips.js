// The smallest change of one or two features that changes the decision, as smallearn.explain.case finds it; else one of
// more features.
const NEAR = 1e-5; // of a range: the room kept from a bound that must not be met
const MOST_COUNTED = 1e4; // values of a whole number; a wider range is rounded afterwards
const ROUNDING = 0.02; // how much larger than needed a change may become in short numbers
const PUSHES = [0, 1e-12, 1e-9, 1e-6, 1e-4];
const ANY_OTHER = "any other value";

const factorOf = ([, , kind, value, mean], x) => {
  if (x === null) return kind === "missing" ? 1 : kind === "raw" ? mean : 0;
  if (kind === "raw") return x;
  if (kind === "missing") return 0;
  if (kind === "equals") return x === value ? 1 : 0;
  return kind === "at_most" ? Number(x <= value) : Number(x > value);
};

// The values that a feature may change to: regions on which every literal is constant. `held` has the least and most.
function domainOf(place, now, held) {
  const field = PAGE.fields[place];
  const terms = shownView().terms.map((own) => own.filter((term) => term[0] === place));
  const every = terms.flat();
  const isNumber = every.some(([, , kind]) => ["raw", "at_most", "above"].includes(kind));
  if (!isNumber) {
    const asked = every.filter(([, , kind]) => kind === "equals").map((term) => term[3]);
    const other = field.seen.find((value) => !asked.includes(value)) ?? ANY_OTHER;
    const values = [...new Set([now, ...(field.accepted ?? [...asked, other])])];
    return { place, now, terms, isNumber, range: 1, whole: false, regions: values.map((value) => ({ value })) };
  }
  let [low, high] = field.known ?? [];
  if (field.known === null) {
    const cuts = [...(now === null ? [] : [now]), ...every.map((term) => term[3]).filter((one) => one !== null)];
    const room = 10 * Math.max(1, ...cuts.map(Math.abs));
    [low, high] = [Math.min(...cuts, ...(cuts.length ? [] : [0])) - room, Math.max(...cuts, ...(cuts.length ? [] : [0])) + room];
  } else if (now !== null) {
    [low, high] = [Math.min(low, now), Math.max(high, now)];
  }
  const range = high > low ? high - low : 1;
  const whole = field.whole && (now === null || Number.isInteger(now));
  const least = Math.max(low, held?.[0] ?? low);
  const most = Math.min(high, held?.[1] ?? high);
  const regions = least <= most ? intervals(every, least, most, whole && range <= MOST_COUNTED, NEAR * range) : [];
  regions.push(now === null ? { value: null } : { low: now, high: now });
  return { place, now, terms, isNumber, range, whole, regions };
}

function intervals(terms, low, high, whole, room) {
  const cuts = [...new Set(terms.filter((term) => term[3] !== null).map((term) => term[3]))].sort((a, b) => a - b);
  const inner = cuts.filter((cut) => low <= cut && cut <= high);
  const ends = [low, ...inner.filter((cut) => low < cut && cut < high), high];
  const found = inner.filter((cut) => !whole || Number.isInteger(cut)).map((cut) => ({ low: cut, high: cut }));
  for (let i = 0; i + 1 < ends.length; i += 1) {
    const [begin, end] = [ends[i], ends[i + 1]];
    let first = inner.includes(begin) ? begin + room : begin;
    let last = inner.includes(end) ? end - room : end;
    if (whole) {
      first = Math.ceil(begin + (inner.includes(begin) && Number.isInteger(begin) ? 0.5 : 0));
      last = Math.floor(end - (inner.includes(end) && Number.isInteger(end) ? 0.5 : 0));
    }
    if (first <= last) found.push({ low: first, high: last });
  }
  if (low === high && !inner.includes(low)) found.push({ low, high });
  return found;
}

const isStep = (domain, after) => domain.isNumber && domain.now !== null && after !== null;
function sizeOf(domain, after) {
  if (isStep(domain, after)) return Math.abs(after - domain.now) / domain.range;
  return after === domain.now ? 0 : 1;
}
const clipped = (value, low, high) => Math.min(Math.max(value, low), high);

// --- the search ----------------------------------------------------------------------------------------------------

// What decides for a row: its values by field, its class, and the scores without the terms of some features.
function scoresWithout(values, places) {
  const model = shownModel();
  return shownView().terms.map((own, j) =>
    own.reduce((z, term) => (places.includes(term[0]) ? z : z + term[1] * factorOf(term, values[term[0]])), model.INTERCEPTS[j]),
  );
}

const addedBy = (domain, after) =>
  domain.terms.map((own) => own.reduce((sum, term) => sum + term[1] * factorOf(term, after), 0));

// Values of a feature at which another class may begin to win, by the scores without the feature; the nearest first.
function candidates(domain, base, label, limit) {
  const model = shownModel();
  const found = [];
  for (const region of domain.regions) {
    if (region.low === undefined) {
      found.push(region.value);
      continue;
    }
    const { low, high } = region;
    const middle = low === high ? low : (low + high) / 2;
    const slopes = domain.terms.map((own) => own.reduce((sum, term) => sum + (term[2] === "raw" ? term[1] : 0), 0));
    const there = addedBy(domain, middle).map((z, j) => z + base[j] - slopes[j] * middle);
    found.push(domain.now === null ? middle : clipped(domain.now, low, high), low, high);
    if (low === high || slopes.every((slope) => slope === 0)) continue;
    for (const x of model.COSTS ? scanned(domain, base, label, low, high) : crossings(there, slopes, label)) {
      if (low <= x && x <= high) found.push(x);
    }
  }
  const sized = found.map((value) => ({ value, size: sizeOf(domain, value) })).filter(({ size }) => size <= limit);
  return sized.sort((one, other) => one.size - other.size);
}

// Where the score of another class meets that of the predicted one.
function crossings(there, slopes, label) {
  const model = shownModel();
  const owner = soleOwner(model);
  if (owner !== null) return there.map((z, j) => (cutOf(model) - z) / slopes[j]).filter(Number.isFinite);
  const offsets = offsetsOf(model) ?? PAGE.classes.map(() => 0);
  const found = [];
  there.forEach((z, j) => {
    if (model.OWNERS[j] !== label) return;
    there.forEach((other, i) => {
      if (model.OWNERS[i] === label) return;
      const gap = z + offsets[model.OWNERS[j]] - other - offsets[model.OWNERS[i]];
      found.push(gap / (slopes[i] - slopes[j]));
    });
  });
  return found.filter(Number.isFinite);
}

// Expected costs meet where no formula says: looked for at equal distances, and between them by halving.
function scanned(domain, base, label, low, high) {
  const model = shownModel();
  const flips = (x) => decide(model, addedBy(domain, x).map((z, j) => z + base[j])).label !== label;
  const found = [];
  const steps = 32;
  for (let i = 0; i < steps; i += 1) {
    let [near, far] = [low + ((high - low) * i) / steps, low + ((high - low) * (i + 1)) / steps];
    if (flips(near) === flips(far)) continue;
    const before = flips(near);
    for (let n = 0; n < 50; n += 1) {
      const middle = (near + far) / 2;
      if (flips(middle) === before) near = middle;
      else far = middle;
    }
    found.push(before ? near : far);
  }
  return found;
}

// The nearest value of one feature that changes the decision, by the scores without it.
function nearest(domain, base, label, limit) {
  const model = shownModel();
  const flips = (x) => decide(model, addedBy(domain, x).map((z, j) => z + base[j])).label !== label;
  for (const { value, size } of candidates(domain, base, label, limit)) {
    const isBetween = isStep(domain, value) && value !== domain.now && !(domain.whole && Number.isInteger(value));
    const further = isBetween ? 1e-7 * domain.range * Math.sign(value - domain.now) : 0;
    if (flips(value) || (further && flips(value + further))) return { value, size };
  }
  return null;
}

// The corners of the regions of a feature: in the smallest change of two features one of them is at a corner.
function corners(domain) {
  const found = [];
  for (const { low, high, value } of domain.regions) {
    if (low === undefined) found.push(value);
    else found.push(...(domain.now === null ? [(low + high) / 2] : [clipped(domain.now, low, high), low, high]));
  }
  return [...new Set(found)].filter((one) => one !== domain.now);
}

// --- in short numbers ----------------------------------------------------------------------------------------------

function within(domain, number) {
  const spans = domain.regions.filter(({ low }) => low !== undefined);
  let low = Math.min(...spans.map((one) => one.low));
  let high = Math.max(...spans.map((one) => one.high));
  if (domain.whole) [low, high] = [Math.ceil(low), Math.floor(high)];
  return clipped(number, low, high);
}

function wholeOf(domain, after) {
  if (!domain.whole || after === null) return after;
  if (Math.abs(after - Math.round(after)) <= 1e-6 || domain.now === null) return within(domain, Math.round(after));
  return within(domain, after > domain.now ? Math.ceil(after) : Math.floor(after));
}

const isMove = (domain, after) => isStep(domain, after) && Math.abs(after - domain.now) > 1e-9 * domain.range;

function away(domain, after, digits) {
  if (!domain.isNumber || domain.whole || after === null) return after;
  if (domain.now !== null && !isMove(domain, after)) return domain.now;
  const step = 10 ** (Math.floor(Math.log10(domain.range)) + 1 - digits);
  const up = domain.now === null || after > domain.now;
  const places = Math.round((after / step) * 1e6) / 1e6;
  return within(domain, Number(((up ? Math.ceil(places) : Math.floor(places)) * step).toPrecision(12)));
}

function pushed(domain, after, further) {
  if (!domain.isNumber || domain.whole || after === null) return after;
  if (domain.now === null) return within(domain, after);
  if (!isMove(domain, after)) return domain.now;
  return within(domain, after + further * Math.sign(after - domain.now) * domain.range);
}

function inShortNumbers(values, label, domains, after) {
  const model = shownModel();
  const flips = (tried) => {
    const changed = [...values];
    domains.forEach((domain, i) => { changed[domain.place] = tried[i]; });
    return decide(model, model.scores(shownView().inputs.map((place) => changed[place]))).label !== label;
  };
  const total = (tried) => domains.reduce((sum, domain, i) => sum + sizeOf(domain, tried[i]), 0);
  const exact = domains.map((domain, i) => wholeOf(domain, after[i]));
  const limit = (1 + ROUNDING) * total(exact);
  const short = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => domains.map((domain, i) => away(domain, exact[i], n)));
  const tries = [
    ...short.filter((tried) => total(tried) <= limit),
    ...PUSHES.map((further) => domains.map((domain, i) => pushed(domain, exact[i], further))),
  ];
  const enough = tries.find(flips);
  return enough === undefined ? null : needed(domains, enough, flips);
}

// Without changes that are not needed, and whole numbers no further than needed.
function needed(domains, enough, flips) {
  const after = [...enough];
  domains.forEach((domain, i) => {
    const without = after.with(i, domain.now);
    if (flips(without)) {
      after[i] = domain.now;
    } else if (domain.whole && domain.now !== null && after[i] !== null) {
      let [near, far] = [domain.now, after[i]];
      while (Math.abs(far - near) > 1) {
        const middle = Math.floor(0.5 * (near + far));
        if (flips(after.with(i, middle))) far = middle;
        else near = middle;
      }
      after[i] = far;
    }
  });
  return after;
}

// --- the answer ----------------------------------------------------------------------------------------------------

function flipOf(values, domains, after) {
  const model = shownModel();
  const changed = [...values];
  domains.forEach((domain, i) => { changed[domain.place] = after[i]; });
  const changes = domains.map((domain, i) => ({ place: domain.place, from: domain.now, to: after[i] }));
  return {
    changes: changes.filter(({ from, to }) => from !== to),
    label: decide(model, model.scores(shownView().inputs.map((place) => changed[place]))).label,
    size: domains.reduce((sum, domain, i) => sum + sizeOf(domain, after[i]), 0),
  };
}

// --- more than two features ----------------------------------------------------------------------------------------

// How near a decision is to another class: above 0 about where it changes. `rival` is the prototype that is to win; null
// if those of the predicted class have to fall to the cut, all of them.
function nearness(z, label, rival) {
  const model = shownModel();
  const owner = soleOwner(model);
  if (rival === null) return -z.reduce((sum, one) => sum + Math.max(0, one - cutOf(model)), 0);
  if (owner !== null) return z[rival] - cutOf(model);
  const offsets = offsetsOf(model) ?? PAGE.classes.map(() => 0);
  const own = z.map((one, j) => (model.OWNERS[j] === label ? one + offsets[label] : -Infinity));
  return z[rival] + offsets[model.OWNERS[rival]] - Math.max(...own);
}

// A change of as many features as it takes: one after the other, each the one that brings the other class nearest.
function towards(values, label, domains, rival) {
  const model = shownModel();
  const base = scoresWithout(values, domains.map(({ place }) => place));
  const after = domains.map(({ now }) => now);
  const added = domains.map((domain, i) => addedBy(domain, after[i]));
  const scores = (i, own) => base.map((z, j) => added.reduce((sum, one, k) => sum + (k === i ? own : one)[j], z));
  const flipped = () => decide(model, scores(-1, null)).label !== label;
  for (const _ of domains) {
    let best = null;
    domains.forEach((domain, i) => {
      if (after[i] !== domain.now) return;
      for (const corner of corners(domain)) {
        const own = addedBy(domain, corner);
        const near = nearness(scores(i, own), label, rival);
        if (best === null || near > best.near) best = { i, corner, own, near };
      }
    });
    if (best === null || best.near <= nearness(scores(-1, null), label, rival)) break;
    after[best.i] = best.corner;
    added[best.i] = best.own;
    if (flipped()) break;
  }
  if (!flipped()) return null;
  domains.forEach((domain, i) => {
    if (after[i] === domain.now) return;
    const none = base.map(() => 0);
    const near = nearest(domain, scores(i, none), label, sizeOf(domain, after[i]));
    if (near === null) return;
    after[i] = near.value;
    added[i] = addedBy(domain, near.value);
  });
  const changed = domains.filter((domain, i) => after[i] !== domain.now);
  const exact = inShortNumbers(values, label, changed, after.filter((value, i) => value !== domains[i].now));
  return exact && flipOf(values, changed, exact);
}

function changeOfSeveral(values, label, domains) {
  const model = shownModel();
  if (domains.length ** 2 * model.OWNERS.length ** 2 > 1e5) return null; // it would take seconds at each move
  const rivals = model.OWNERS.map((_, j) => j).filter((j) => model.OWNERS[j] !== label);
  const found = (rivals.length ? rivals : [null]).map((rival) => towards(values, label, domains, rival));
  return found.reduce((one, other) => (other && (!one || other.size < one.size) ? other : one), null);
}

// --- what is shown -------------------------------------------------------------------------------------------------

// For each feature that may change the smallest change of it, and the smallest of two if it is smaller than all these;
// if there is none, a change of several, which need not be the smallest.
function smallestChanges(values, label, free, held) {
  const domains = free.map((place) => domainOf(place, values[place], held[place]));
  const alone = domains.map((domain) => {
    const near = nearest(domain, scoresWithout(values, [domain.place]), label, Infinity);
    const after = near && inShortNumbers(values, label, [domain], [near.value]);
    return after && flipOf(values, [domain], after);
  });
  let best = alone.reduce((one, other) => (other && (!one || other.size < one.size) ? other : one), null);
  let pair = null;
  for (const first of domains) {
    for (const second of domains) {
      if (first === second) continue;
      const base = scoresWithout(values, [first.place, second.place]);
      for (const corner of corners(first)) {
        const spent = sizeOf(first, corner);
        const limit = (best ? best.size : Infinity) - spent;
        if (limit <= 0) continue;
        const added = addedBy(first, corner);
        const near = nearest(second, base.map((z, j) => z + added[j]), label, limit);
        if (near === null || spent + near.size >= (best ? best.size : Infinity)) continue;
        const after = inShortNumbers(values, label, [first, second], [corner, near.value]);
        const flip = after && flipOf(values, [first, second], after);
        if (flip && (!best || flip.size < best.size)) [best, pair] = [flip, flip];
      }
    }
  }
  const several = best ? null : changeOfSeveral(values, label, domains);
  return { alone, pair, several };
}
