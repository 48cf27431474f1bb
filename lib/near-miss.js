/** The known name closest to a wrong one, for messages. */

/**
 * @param {string} wrong
 * @param {readonly string[]} names
 * @returns {string} `: did you mean "x"?`, or an empty string if none is close
 */
export function nearMiss(wrong, names) {
  let best = '';
  let least = Math.max(2, Math.floor(wrong.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(wrong.toLowerCase(), name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best === '' ? '' : `: did you mean "${best}"?`;
}

/**
 * Levenshtein's distance, by rows.
 * @param {string} a
 * @param {string} b
 * @returns {number}
 */
function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + same));
    }
    row = next;
  }
  return row[b.length];
}
