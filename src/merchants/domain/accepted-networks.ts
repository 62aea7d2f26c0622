// What asks whose cards a shop takes: the checkout, and the API's lists of payment methods.
import type { Shop } from './party.ts';

/** Of a card whose payer is present. */
type CardUse = { readonly flow: { readonly type: 'instant' | 'hold' }; readonly makeRecurrent: boolean };

/** The networks of which a bank of the shop takes cards for this. */
export type AcceptedNetworks = (shop: Shop, use: CardUse) => Promise<readonly string[]>;
