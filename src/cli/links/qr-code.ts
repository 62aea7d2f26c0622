// QR codes of payment links, for a terminal and for print.
import { renderSVG, renderUnicodeCompact } from 'uqr';

/** A scratch or a stain may take 15 %. The border of four modules is what the standard asks for. */
const printed = { ecc: 'M', border: 4 } as const;

export function svgQrCode(text: string): string {
  return `${renderSVG(text, printed)}\n`;
}

/** Blocks are the light parts, so on a terminal the colours are set: its own may be dark on light. */
export function drawnQrCode(text: string, { isOnTerminal }: { readonly isOnTerminal: boolean }): string {
  const rows = renderUnicodeCompact(text, printed).split('\n');
  return rows.map((row) => (isOnTerminal ? `\u001b[97;40m${row}\u001b[0m` : row)).join('\n');
}
