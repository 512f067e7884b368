// @ts-check
// Rules of three neighbours, grown column by column with wrapped edges, and their exact posterior given an image.
//
// p(x | rule) = 2^-height (1 - noise)^kept noise^flipped, so it factorises over the eight patterns, and so does the
// posterior under a uniform prior: p(bit = 1) = s(k log((1 - noise) / noise)) with k = (followed by 1) - (by 0).

export const PATTERNS = 8;

/** What a rule makes of a column. @param {number} rule @param {Uint8Array} column @returns {Uint8Array} */
export function next(rule, column) {
  const n = column.length;
  return column.map((cell, i) => (rule >> (4 * column[(i + n - 1) % n] + 2 * cell + column[(i + 1) % n])) & 1);
}

/** An image, as columns, grown from its first column; `flips(i, t)` says which cells noise flips.
 * @param {number} rule @param {Uint8Array} first @param {number} width @param {(i: number, t: number) => boolean} flips
 * @returns {Uint8Array[]} */
export function grow(rule, first, width, flips) {
  const columns = [first];
  for (let t = 1; t < width; t++) {
    columns.push(next(rule, columns[t - 1]).map((cell, i) => cell ^ (flips(i, t) ? 1 : 0)));
  }
  return columns;
}

/** How often each pattern is followed by 0 and by 1. @param {Uint8Array[]} columns @returns {number[][]} */
export function count(columns) {
  const counts = Array.from({ length: PATTERNS }, () => [0, 0]);
  for (let t = 0; t + 1 < columns.length; t++) {
    const [before, after] = [columns[t], columns[t + 1]];
    const n = before.length;
    for (let i = 0; i < n; i++) {
      counts[4 * before[(i + n - 1) % n] + 2 * before[i] + before[(i + 1) % n]][after[i]] += 1;
    }
  }
  return counts;
}

/** The log-likelihood of an image under a rule.
 * @param {number[][]} counts @param {number} rule @param {number} noise @param {number} height */
export function logLikelihood(counts, rule, noise, height) {
  let kept = 0;
  let flipped = 0;
  counts.forEach((pair, n) => {
    kept += pair[(rule >> n) & 1];
    flipped += pair[1 - ((rule >> n) & 1)];
  });
  return kept * Math.log1p(-noise) + flipped * Math.log(noise) - height * Math.LN2;
}

/** The posterior over all 256 rules, the most probable first, and the probability that each bit is 1.
 * @param {number[][]} counts @param {number} noise @param {number} height */
export function posterior(counts, noise, height) {
  const found = Array.from({ length: 256 }, (_, rule) => (
    { rule, logLikelihood: logLikelihood(counts, rule, noise, height), probability: 0 }));
  const best = Math.max(...found.map((each) => each.logLikelihood));
  const mass = found.reduce((sum, each) => sum + Math.exp(each.logLikelihood - best), 0);
  for (const each of found) each.probability = Math.exp(each.logLikelihood - best) / mass;
  const bits = counts.map((_, n) => found.reduce((sum, each) => sum + ((each.rule >> n) & 1) * each.probability, 0));
  found.sort((a, b) => b.probability - a.probability || a.rule - b.rule);
  return { rules: found, bits, logEvidence: best + Math.log(mass) - Math.log(256) };
}
