// What every report has: the machine it was measured on, and its file next to the stored results.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

export function machine(): string {
  const load = loadavg().map((one) => one.toFixed(1));
  return `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, load ${load.join(' ')}`;
}

/** Dated to the minute. */
export function heading(title: string): string {
  return `# ${title}, ${new Date().toISOString().slice(0, 16)}`;
}

export function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

export function keepLatest(file: string, lines: readonly string[]): void {
  const folder = new URL('../results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(file, folder), lines.join('\n'));
}
