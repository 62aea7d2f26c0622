// The rest of a statement that changes a payment, and nothing of its invoice but the log.
import { recordExchanges } from '../../../acquiring/exchange-log/store/exchange-rows.ts';
import { appendEvent, changedAt } from '../../../platform/events/log.ts';

/** Follows `moved`, which has the `invoice_id` if the payment was changed. Returns the version of the invoice. */
export const logOneEvent = `changed as (
      update invoice set version = invoice.version + 1, ${changedAt('invoice')}
      from moved where invoice.invoice_id = moved.invoice_id
      returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
    ), logged as (
      ${appendEvent('invoice', 'invoice_id')}
    ), exchanged as (
      ${recordExchanges('changed')}
    )
    select version from changed`;
