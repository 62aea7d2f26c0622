// Why a subscription has ended, as its payer reads it on its page and in the email.
import type { ReceiptLanguage } from '../../receipts/domain/receipt.ts';
import type { EndReason } from './subscription.ts';

export type EndWords = Readonly<Record<EndReason, string>> & {
  /** After each of them. */
  readonly chargedNoMore: string;
};

export const endWords: Readonly<Record<ReceiptLanguage, EndWords>> = {
  en: {
    payer: 'You ended it, or took back your consent to the charges.',
    merchant: 'The merchant ended it.',
    consentEnded: 'The time that you had agreed to is over.',
    stopped: 'Your bank has stopped the charges.',
    unpaid: 'A payment could not be collected.',
    finished: 'All agreed periods are over.',
    firstPaymentMissing: 'The first payment did not come in time.',
    disputed: 'A payment was disputed.',
    chargedNoMore: 'Nothing more is charged for it.',
  },
  ru: {
    payer: 'Вы её завершили или отозвали согласие на списания.',
    merchant: 'Её завершил продавец.',
    consentEnded: 'Срок вашего согласия истёк.',
    stopped: 'Банк остановил списания.',
    unpaid: 'Платёж не удалось списать.',
    finished: 'Все согласованные периоды закончились.',
    firstPaymentMissing: 'Первый платёж не поступил вовремя.',
    disputed: 'Платёж оспорен.',
    chargedNoMore: 'Списаний за неё больше не будет.',
  },
};
