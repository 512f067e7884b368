// @ts-check
// The exact posterior over the clusterings of a few points. A cluster's score needs only its points, so the scores of
// all subsets are computed once; the score of a clustering is the sum over its clusters.
//
// p(z) is the Chinese restaurant process: alpha^K prod_c (n_c - 1)! / prod_j (j + alpha).
// p(x | z): means N(0, I), points N(mean, variance I), means integrated out.

/** @typedef {{ labels: number[], logJoint: number, probability: number }} Clustering */

/** The logarithm of p(points of a cluster): contrasts N(0, v), sqrt(n) times the mean N(0, v + n).
 * @param {number[][]} points @param {number} variance */
export function logCluster(points, variance) {
  const n = points.length;
  let total = 0;
  for (let d = 0; d < points[0].length; d++) {
    let sum = 0;
    let squares = 0;
    for (const point of points) {
      sum += point[d];
      squares += point[d] * point[d];
    }
    const ofMean = (sum * sum) / n;
    total -= 0.5 * (n * Math.log(2 * Math.PI) + (n - 1) * Math.log(variance) + Math.log(variance + n));
    total -= 0.5 * ((squares - ofMean) / variance + ofMean / (variance + n));
  }
  return total;
}

/** Every clustering of n points, labels in order of appearance.
 * @param {number} n @returns {number[][]} */
export function partitions(n) {
  let found = [[0]];
  for (let j = 1; j < n; j++) {
    const grown = [];
    for (const labels of found) {
      const next = Math.max(...labels) + 1;
      for (let label = 0; label <= next; label++) grown.push([...labels, label]);
    }
    found = grown;
  }
  return n ? found : [];
}

/** The posterior over all clusterings, the most probable first, and log p(x).
 * @param {number[][]} points @param {number} variance @param {number} alpha
 * @returns {{ clusterings: Clustering[], logEvidence: number }} */
export function posterior(points, variance, alpha) {
  const n = points.length;
  const ofSubset = new Float64Array(1 << n);
  for (let mask = 1; mask < 1 << n; mask++) {
    const members = points.filter((_, j) => (mask >> j) & 1);
    let log = Math.log(alpha) + logCluster(members, variance);
    for (let k = 2; k < members.length; k++) log += Math.log(k);
    ofSubset[mask] = log;
  }
  let rising = 0;
  for (let j = 0; j < n; j++) rising += Math.log(j + alpha);
  const found = partitions(n).map((labels) => {
    const masks = new Array(n).fill(0);
    labels.forEach((label, j) => { masks[label] |= 1 << j; });
    const logJoint = masks.reduce((sum, mask) => sum + (mask ? ofSubset[mask] : 0), -rising);
    return { labels, logJoint, probability: 0 };
  });
  found.sort((a, b) => b.logJoint - a.logJoint);
  const best = found.length ? found[0].logJoint : 0;
  const mass = found.reduce((sum, each) => sum + Math.exp(each.logJoint - best), 0);
  const logEvidence = best + Math.log(mass);
  for (const each of found) each.probability = Math.exp(each.logJoint - logEvidence);
  return { clusterings: found, logEvidence };
}

/** The probability that two points share a cluster, and the probability of each number of clusters.
 * @param {Clustering[]} clusterings @param {number} n */
export function summaries(clusterings, n) {
  const together = Array.from({ length: n }, () => new Array(n).fill(0));
  const counts = new Array(n + 1).fill(0);
  for (const { labels, probability } of clusterings) {
    counts[Math.max(...labels) + 1] += probability;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (labels[i] === labels[j]) together[i][j] += probability;
  }
  return { together, counts };
}
