// By what the service knows one browser from another when it counts how many cards somebody tries. Coarse on purpose: it says
// what kind of browser this is, not whose.
export function fingerprint(): string {
  const { width, height, colorDepth } = screen;
  const seen = [
    navigator.userAgent,
    navigator.languages.join(),
    navigator.hardwareConcurrency,
    [width, height, colorDepth].join('x'),
    Intl.DateTimeFormat().resolvedOptions().timeZone,
  ].join('|');
  // FNV-1a, twice with different starts: nothing here has to withstand an attack.
  return [0x811c9dc5, 0x01000193]
    .map((start) => {
      let hash = start;
      for (let place = 0; place < seen.length; place++) {
        hash = Math.imul(hash ^ seen.charCodeAt(place), 0x01000193);
      }
      return (hash >>> 0).toString(16).padStart(8, '0');
    })
    .join('');
}
