// Amounts and times as a person reads them.
import { decimalsOf, type Currency } from '../../src/money.ts';
import { locale } from './words/words.ts';

/** With its currency, because no two are ever added. */
export function amountText(minor: number, currency: string): string {
  const digits = decimalsOf(currency as Currency);
  const number = (minor / 10 ** digits).toLocaleString(locale.value, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${number}\u00a0${currency}`;
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
