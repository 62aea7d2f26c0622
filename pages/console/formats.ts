// Amounts and times as a person reads them.
import { decimalsOf, type Currency } from '../../src/money.ts';
import type { Minor } from './minor.ts';
import { locale } from './words/words.ts';

/** With its currency, because no two are ever added. */
export function amountText(minor: Minor, currency: string): string {
  const digits = decimalsOf(currency as Currency);
  const all = BigInt(minor);
  const written = String(all < 0n ? -all : all).padStart(digits + 1, '0');
  const whole = BigInt(written.slice(0, written.length - digits));
  const number = new Intl.NumberFormat(locale.value, { minimumFractionDigits: digits })
    .formatToParts(whole)
    .map(({ type, value }) => (type === 'fraction' ? written.slice(-digits) : value))
    .join('');
  return `${all < 0n ? '-' : ''}${number}\u00a0${currency}`;
}

export function timeText(at: string): string {
  return new Date(at).toLocaleString(locale.value, { dateStyle: 'medium', timeStyle: 'short' });
}

/** For a timeline, where seconds tell what was first. */
export function exactTimeText(at: string): string {
  return new Date(at).toLocaleString(locale.value, { dateStyle: 'medium', timeStyle: 'medium' });
}

export function durationText(ms: number): string {
  if (ms < 1_000) return `${ms}\u00a0ms`;
  return `${(ms / 1_000).toLocaleString(locale.value, { maximumFractionDigits: 1 })}\u00a0s`;
}

/** In the zone of a shop, and with it named elsewhere. */
export function dateTimeText(at: string, zone: string): string {
  return new Date(at).toLocaleString(locale.value, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: zone,
  });
}

export function countText(count: number): string {
  return count.toLocaleString(locale.value);
}

export function percentText(rate: number): string {
  return rate.toLocaleString(locale.value, { style: 'percent', maximumFractionDigits: 1 });
}

export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
