// How a shop's pages for payers look: its accent colour, logo and links. Pure.

export type Branding = {
  /** `#rrggbb`, dark enough for white text. */
  readonly accent?: string;
  readonly logo?: Uint8Array;
  readonly termsUrl?: string;
  readonly privacyUrl?: string;
};

/** The logo is a part of each page, so that a page stays one response. */
export const maxLogoBytes = 8_000;
/** Of white text on the accent colour, by WCAG 2 AA. */
const leastContrast = 4.5;

export function accentProblem(accent: string): string | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(accent)) return 'is not a colour. Write it as #0b6b5c.';
  const contrast = contrastWithWhite(accent);
  if (contrast >= leastContrast) return undefined;
  // Rounded down: 4.5 must not be called too little.
  const printed = Math.floor(contrast * 100) / 100;
  return `is too light: white text on it has a contrast of ${printed} to 1, and needs ${leastContrast}. Use a darker colour.`;
}

export function logoProblem(logo: Uint8Array): string | undefined {
  if (!imageTypeOf(logo)) return 'is not an image in PNG, JPEG or WebP.';
  if (logo.length <= maxLogoBytes) return undefined;
  return `has ${logo.length} bytes, and at most ${maxLogoBytes} are allowed. Make it smaller: it is shown 40 pixels high.`;
}

const beginnings = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
] as const;

/** By its first bytes, whatever its name says. */
export function imageTypeOf(image: Uint8Array): string | undefined {
  const start = String.fromCharCode(...image.subarray(0, 12));
  return beginnings.find(([, pattern]) => pattern.test(start))?.[0];
}

/** The colour under white, as a light background for the accent. */
export function tintOf(accent: string): string {
  const share = 0.12;
  const parts = channelsOf(accent).map((part) => Math.round(part * share + 255 * (1 - share)));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function contrastWithWhite(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(colour).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

function channelsOf(colour: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
}
