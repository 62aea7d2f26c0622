// A bank's own words about what it declined. Merchants and operators read them, payers never: they would help a card tester.
import { defined } from '../../defined.ts';
import type { Declined } from './bank-port.ts';

export type BankWords = { readonly code: string; readonly text?: string };

/** The member that a failure keeps. */
export function bankWordsOf({ code, text }: Pick<Declined, 'code' | 'text'>): { readonly bank: BankWords } {
  return { bank: { code, ...defined({ text }) } };
}
