// The shapes of consent links in the API.
import { Type, type Static } from 'typebox';
import { defined } from '../../defined.ts';
import { DateTime, EntityID, ExternalID, SeriesID } from '../../platform/http/schemas.ts';
import { receiptLanguages } from '../../receipts/domain/receipt.ts';
import { ruleBody, termsBody } from '../../receipts/domain/terms-body.ts';
import { NewTerms } from '../../recurring/api/schema.ts';
import { linkStatuses, type LinkState } from '../domain/consent-link.ts';
import type { ConsentLinks } from '../port.ts';

const Language = Type.Enum([...receiptLanguages], {
  description: 'Of the page. Without it, the language of the payer’s browser.',
});
const RedirectUrl = Type.String({
  format: 'uri',
  maxLength: 2_000,
  description: 'Where the payer can continue afterwards, on one of the origins of the shop.',
});

export const ConsentLinkParams = Type.Object(
  {
    externalID: Type.Optional(ExternalID),
    seriesID: {
      ...SeriesID,
      description: 'From the series’ webhook events, or the `…/recurring` of a payment or customer.',
    },
    terms: NewTerms,
    expiresAt: Type.Optional({
      ...DateTime,
      description:
        'Until when the payer can agree: at most 30 days from now. Without it, for seven days. Never after `terms.validUntil`.',
    }),
    language: Type.Optional(Language),
    redirectUrl: Type.Optional(RedirectUrl),
  },
  { title: 'ConsentLinkParams' },
);
export type ConsentLinkParams = Static<typeof ConsentLinkParams>;

export const consentLinkExample = {
  seriesID: '…',
  terms: { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 59_900 } },
} satisfies ConsentLinkParams;

export const ConsentLinkSchema = Type.Object(
  {
    id: EntityID,
    externalID: Type.Optional(ExternalID),
    seriesID: EntityID,
    status: Type.Enum([...linkStatuses], {
      description:
        '`authenticating`: the payer has ticked the box, and the bank has not finished. `done`: the series has the new terms.',
    }),
    url: Type.String({
      description: 'Send the payer there. Any person who opens it can agree as the payer.',
    }),
    terms: NewTerms,
    createdAt: DateTime,
    expiresAt: DateTime,
    cancelledAt: Type.Optional(DateTime),
    language: Type.Optional(Language),
    redirectUrl: Type.Optional(Type.String()),
    binding: Type.Optional(
      Type.Object(
        { customerID: EntityID, customerBindingID: EntityID },
        {
          title: 'ConfirmingBinding',
          description: 'The latest binding by which the payer confirmed, or tried to.',
        },
      ),
    ),
    error: Type.Optional(
      Type.Object(
        { code: Type.String(), message: Type.String({ description: 'For people. Do not parse it.' }) },
        { title: 'ConsentLinkError', description: 'Why the latest attempt failed. The payer can try again.' },
      ),
    ),
  },
  { title: 'ConsentLink' },
);

export const ConsentLinkPath = Type.Object({ consentLinkID: EntityID });

export function consentLinkBody(
  { link, status, binding }: LinkState,
  links: Pick<ConsentLinks, 'urlOf'>,
): Static<typeof ConsentLinkSchema> {
  const { id, seriesId, terms, createdAt, expiresAt, cancelledAt, language, redirectUrl, attempt } = link;
  const { schedule, amountRule } = terms;
  return {
    id,
    seriesID: seriesId,
    status,
    url: links.urlOf(id),
    terms: {
      ...termsBody(terms),
      schedule,
      amountRule: ruleBody(amountRule),
    },
    createdAt,
    expiresAt,
    ...defined({ externalID: link.externalId, cancelledAt, language, redirectUrl }),
    ...(attempt ? { binding: { customerID: attempt.customerId, customerBindingID: attempt.bindingId } } : {}),
    ...(binding?.state.name === 'failed'
      ? { error: { code: binding.state.failure[0], message: binding.state.failure.join(':') } }
      : {}),
  };
}
