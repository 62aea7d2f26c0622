// What still needs a retained card: the payment, binding or destination it was retained for, and the series of charges that began with
// it. A card that none of them needs is deleted.
import type { CardNeeds, RetentionNeed } from '../cards/worker.ts';
import { retentionNeed as needOfBinding } from '../customers/domain/binding-card-need.ts';
import { loadBinding } from '../customers/store/bindings.ts';
import type { Database } from '../platform/database/database.ts';
import { retentionNeed as needOfPayment } from '../payments/domain/payer/payment-card-need.ts';
import { loadPayment } from '../payments/store/payments.ts';
import type { Consents, Look } from '../recurring/port.ts';
import { seriesIdOf } from '../recurring/domain/series.ts';
import { findDestination } from '../payouts/store/destinations.ts';
import { defined } from '../defined.ts';

const needed: RetentionNeed = { until: 'unknown' };

export function cardNeeds(consents: Pick<Consents, 'cardNeeds'>): CardNeeds {
  async function needOfSeries(
    db: Database,
    seriesId: string | undefined,
    look: Look,
    options: { readonly token?: string; readonly newCharges: boolean },
  ): Promise<RetentionNeed> {
    // The card was bound before its series was recorded, so nothing can tell when the need ends.
    if (seriesId === undefined) return needed;
    const { isCharging, neededUntil, token } = await consents.cardNeeds(db, seriesId, look);
    if (isCharging) return needed;
    if (!options.newCharges || neededUntil === undefined) return 'no';
    // The end of a series expedites only the card that the series began with. The same card bound again is another row.
    return token === (options.token ?? token) ? { until: neededUntil } : needed;
  }

  return {
    async payment(db, [invoiceId = '', paymentId = ''], look) {
      const stored = await loadPayment(db, { invoiceId, paymentId });
      const need = stored ? needOfPayment(stored.payment) : 'no';
      if (need === 'no') return need;
      if (need === 'yes') return needed;
      return needOfSeries(db, seriesIdOf({ invoiceId, paymentId }), look, { newCharges: true });
    },
    async binding(db, [customerId = '', bindingId = ''], look) {
      const stored = await loadBinding(db, { customerId, bindingId });
      const need = stored ? needOfBinding(stored.binding, stored.customer) : 'no';
      if (need === 'no') return need;
      if (need === 'yes') return needed;
      const token = stored?.binding.card.token;
      const newCharges = need === 'while its series is charged';
      return needOfSeries(db, stored?.seriesId, look, { newCharges, ...defined({ token }) });
    },
    async destination(db, [id = '']) {
      const stored = await findDestination(db, null, id);
      switch (stored?.destination.state.status) {
        case 'checking':
          return needed;
        case 'authorized':
          return { until: 'permanently' };
        default:
          return 'no';
      }
    },
  };
}
