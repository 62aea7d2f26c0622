// The words of timelines in both languages. The API and the commands have the English ones, the console those of its page.

/** Each English phrase with the Russian one. A gap such as {code} is filled in. */
export const phrases = {
  // How an object began.
  'Created by the payer, held first.': 'Создан плательщиком, с удержанием.',
  'Created by the payer, in one step.': 'Создан плательщиком, в один шаг.',
  'Created without the payer, held first.': 'Создан без плательщика, с удержанием.',
  'Created without the payer, in one step.': 'Создан без плательщика, в один шаг.',
  'Created. The money is reserved in the wallet.': 'Создана. Деньги зарезервированы в кошельке.',
  'Imported. The card was saved elsewhere, so no bank is asked.':
    'Импортирована. Карта сохранена в другой системе, поэтому банк не спрашивают.',
  'The payer agrees to new terms. No card is saved.':
    'Плательщик соглашается на новые условия. Карта не сохраняется.',
  'Saving the card began. An amount is charged and given back at once.':
    'Началось сохранение карты. Сумма списывается и сразу возвращается.',
  'Imported: the payer agreed elsewhere.': 'Импортирована: плательщик дал согласие в другой системе.',
  'The payer agreed by saving a card.': 'Плательщик дал согласие, сохранив карту.',
  'The payer agreed by saving a card, until {time}.': 'Плательщик дал согласие, сохранив карту, до {time}.',
  'The payer agreed with a payment.': 'Плательщик дал согласие вместе с платежом.',
  'The payer agreed with a payment, until {time}.': 'Плательщик дал согласие вместе с платежом, до {time}.',
  'The payer agreed again.': 'Плательщик снова дал согласие.',
  'The payer agreed again, until {time}.': 'Плательщик снова дал согласие, до {time}.',
  'Earlier events are not shown.': 'Более ранние события не показаны.',

  // 3-D Secure.
  'The bank is asked for 3-D Secure.': 'У банка запрошен 3-D Secure.',
  'The bank is asked to do without 3-D Secure.': 'Банк попросили обойтись без 3-D Secure.',
  'The bank is asked for an exemption from 3-D Secure: {exemption}.':
    'У банка запрошено исключение из 3-D Secure: {exemption}.',
  'Authenticated elsewhere: status {status}, ECI {eci}.':
    'Аутентификация пройдена в другой системе: статус {status}, ECI {eci}.',
  'The issuer demands 3-D Secure: {network} code {code}. It is sent again with it.':
    'Эмитент требует 3-D Secure: код {code} сети {network}. Отправлено снова, с ним.',
  'The payer has to confirm at their bank, until {time}.':
    'Плательщик должен подтвердить платёж в своём банке, до {time}.',
  'The payer came back, or the bank decided without that.': 'Плательщик вернулся, или банк решил без этого.',
  'The bank reports {facts}.': 'Банк сообщает: {facts}.',
  '3-D Secure: {how}': '3-D Secure: {how}',
  '{some}, {other}': '{some}, {other}',
  'status {status}': 'статус {status}',
  'ECI {eci}': 'ECI {eci}',
  'liability shifted': 'ответственность перенесена',
  'liability not shifted': 'ответственность не перенесена',

  // What banks say.
  'Authorisation: {state}{answer}': 'Авторизация: {state}{answer}',
  'Capture: {state}{answer}': 'Списание: {state}{answer}',
  'Refund: {state}{answer}': 'Возврат: {state}{answer}',
  'Reversal: {state}{answer}': 'Отмена: {state}{answer}',
  'Payout: {state}{answer}': 'Выплата: {state}{answer}',
  'Card check: {state}{answer}': 'Проверка карты: {state}{answer}',
  'sent or about to be. The bank has not answered, so the outcome is unknown.':
    'отправлено или вот-вот будет. Банк не ответил, поэтому исход неизвестен.',
  'the bank waits for the payer.': 'банк ждёт плательщика.',
  approved: 'одобрено',
  declined: 'отклонено',
  'given up. Whatever it was is undone.': 'прекращено. Что бы ни было сделано, оно отменяется.',
  'taken back by the bank.': 'банк отменил своё решение.',
  'an operator recorded the outcome.': 'исход записал оператор.',
  '{approval}{reference}.': '{approval}{reference}.',
  ' with {network} code {code}{said}{advice}{reference}.':
    ' с кодом {code} сети {network}{said}{advice}{reference}.',
  ', approval code {code}': ', код одобрения {code}',
  ', reference {reference}': ', референс {reference}',
  ', advice {advice}': ', указание {advice}',
  ': “{text}”': ': «{text}»',
  'Nothing was sent. Another terminal of the shop is used.':
    'Ничего не отправлено. Используется другой терминал магазина.',
  'The bank has done nothing. Another bank is used.': 'Банк ничего не сделал. Используется другой банк.',

  // The status of a payment.
  'Authorised.': 'Авторизован.',
  'Given up, and reversed: {meaning}': 'Прекращено и отменяется: {meaning}',
  'Capture requested: {reason}': 'Запрошено списание: {reason}',
  'Captured.': 'Списано.',
  'Cancellation started: {reason}': 'Начата отмена: {reason}',
  'The bank does not reverse it, and has taken no money.': 'Банк не отменяет платёж и денег не взял.',
  'The bank does not reverse it, so what it took is refunded.':
    'Банк не отменяет платёж, поэтому взятое возвращается.',
  'The payer has the money back.': 'Деньги вернулись к плательщику.',
  'Cancelled.': 'Отменён.',
  'Failed: {meaning}': 'Не удалось: {meaning}',
  'Refunded in full.': 'Возвращён полностью.',
  'The bank does not pay what it had captured.': 'Банк не выплачивает то, что списал.',
  'The bank approved it after it was given up. That charge is undone.':
    'Банк одобрил платёж после прекращения. Это списание отменяется.',
  'The bank approved the declined charge before the challenge. That charge is undone.':
    'Банк одобрил отклонённое списание, сделанное до проверки. Оно отменяется.',
  'The refund that undid a charge failed later. It is sent once more.':
    'Возврат, который отменял списание, позже не удался. Он отправлен ещё раз.',
  'The bank does not undo that charge, so an operator finds out why.':
    'Банк не отменяет это списание, поэтому оператор выясняет почему.',
  'The payer has the money of that charge back.': 'Деньги этого списания вернулись к плательщику.',
  'An operator recorded it.': 'Это записал оператор.',

  // Refunds.
  'Refund requested.': 'Запрошен возврат.',
  'Refund requested: {reason}': 'Запрошен возврат: {reason}',
  'It waits for money of the shop, until {time}.': 'Возврат ждёт денег магазина, до {time}.',
  'The money of the shop for the refund is reserved.': 'Деньги магазина для возврата зарезервированы.',
  'Refund failed: {meaning}': 'Возврат не удался: {meaning}',
  'Refunded{reference}{arn}.': 'Возвращено{reference}{arn}.',
  ', ARN {arn}': ', ARN {arn}',
  'The money of the refund came back to the shop.': 'Деньги возврата вернулись в магазин.',

  // Bindings.
  'Charged. The bank has to confirm by {time} that the payer has the money back.':
    'Списано. Банк должен до {time} подтвердить, что деньги вернулись к плательщику.',
  'The bank does not reverse it, so it is refunded.': 'Банк не отменяет списание, поэтому оно возвращается.',
  'The card is saved, and the payer has the money back.': 'Карта сохранена, деньги вернулись к плательщику.',
  'Revoked: the card is not charged any more.': 'Отозвана: с карты больше не списывают.',
  'The customer can be charged, with this card.': 'С покупателя можно списывать, с этой карты.',
  'The customer is charged with this card from now on.':
    'С этого момента с покупателя списывают по этой карте.',
  'The payer can save a card again, with another binding.':
    'Плательщик может снова сохранить карту, другой привязкой.',
  'No card can be saved while {reason}.': 'Сохранить карту нельзя, пока {reason}.',

  // Payouts.
  'Paid out, reference {reference}.': 'Выплачено, референс {reference}.',
  'On the card by {time}.': 'На карте не позднее {time}.',
  'The bank of the card sent money back: {reason}.': 'Банк карты вернул деньги: {reason}.',
  'the account is closed': 'счёт закрыт',
  'the account is frozen': 'счёт заморожен',
  'the account does not take it': 'счёт не принимает выплату',
  'the number is wrong': 'номер неверен',
  'the account has another currency': 'счёт в другой валюте',
  'it gives no reason': 'причина не указана',
  'The outcome is unknown, and waits for the operator. The money stays reserved.':
    'Исход неизвестен и ждёт оператора. Деньги остаются зарезервированными.',
  'The bank is asked for the outcome. Until then the money stays reserved.':
    'Банк спрашивают об исходе. До ответа деньги остаются зарезервированными.',
  'Do not create it again.': 'Не создавайте её снова.',

  // Series and rules.
  'A retry began.': 'Началась повторная попытка.',
  'A charge began.': 'Началось списание.',
  'The charge is approved.': 'Списание одобрено.',
  'The charge was not sent. It counts as no attempt.': 'Списание не отправлено. Попыткой оно не считается.',
  'Declined with {network} code {code}{advice}.': 'Отклонено, код {code} сети {network}{advice}.',
  'The bank did not answer, and the charge was given up.': 'Банк не ответил, и списание прекращено.',
  'The payment can be named as a parent.': 'Платёж можно указывать как родительский.',
  'Allowed by {packs}.': 'Разрешено по {packs}.',
  'Allowed as a retry by {packs}.': 'Разрешено как повторная попытка по {packs}.',
  'Allowed as a new charge by {packs}.': 'Разрешено как новое списание по {packs}.',
  'Allowed with a warning: {warning}.': 'Разрешено с предупреждением: {warning}.',
  'After the decline: {effect}, by rule {rule} of {pack}.':
    'После отказа: {effect}, по правилу {rule} из {pack}.',
  'Stopped: {effect}, by rule {rule} of {pack}.': 'Остановлено: {effect}, по правилу {rule} из {pack}.',
  'No charge before {time}, by rule {rule} of {pack}.':
    'До {time} списаний нет, по правилу {rule} из {pack}.',
  'this invoice is not charged again': 'по этому счёту больше не списывают',
  'the series ends': 'серия заканчивается',
  'every series of the card in this shop ends': 'все серии этой карты в этом магазине заканчиваются',
  'every series of the card ends': 'все серии этой карты заканчиваются',
  'wait until {time}': 'ждать до {time}',
  'The invoice is not charged any more. Its failures do not count for other invoices.':
    'По этому счёту больше не списывают. Его неудачи не считаются для других счетов.',
  'The payer ended the consent.': 'Плательщик отозвал согласие.',
  'The payer ended the consent: {reason}': 'Плательщик отозвал согласие: {reason}',
  'The merchant ended the consent.': 'Мерчант прекратил согласие.',
  'The merchant ended the consent: {reason}': 'Мерчант прекратил согласие: {reason}',
  'The operator ended the consent.': 'Оператор прекратил согласие.',
  'The operator ended the consent: {reason}': 'Оператор прекратил согласие: {reason}',
  'Advance notice for the merchant: the card expires, {time}.':
    'Предупреждение мерчанту: истекает срок карты, {time}.',
  'Advance notice for the merchant: without a charge, the consent lapses, {time}.':
    'Предупреждение мерчанту: без списания согласие теряет силу, {time}.',
  'Advance notice for the merchant: a rare charge comes, {time}.':
    'Предупреждение мерчанту: предстоит редкое списание, {time}.',
  'Advance notice for the merchant: the trial ends, {time}.':
    'Предупреждение мерчанту: заканчивается пробный период, {time}.',
  'Advance notice for the merchant: the consent ends, {time}.':
    'Предупреждение мерчанту: согласие заканчивается, {time}.',
  'Advance notice for the merchant: the consent ended, {time}.':
    'Предупреждение мерчанту: согласие закончилось, {time}.',

  // What can be done next.
  'No other attempt: the invoice is paid.': 'Другой попытки не будет: счёт оплачен.',
  'No other attempt: the invoice is fulfilled.': 'Другой попытки не будет: счёт исполнен.',
  'No other attempt: the invoice is cancelled.': 'Другой попытки не будет: счёт отменён.',
  'No other attempt: the invoice was due at {time}.': 'Другой попытки не будет: срок счёта истёк {time}.',
  'No other attempt while {reason}.': 'Другая попытка невозможна, пока {reason}.',
  'Another attempt is in progress.': 'Идёт другая попытка.',
  'The payer can try again, until {time}.': 'Плательщик может попробовать снова, до {time}.',
  'The rules allow another charge of this invoice now.':
    'Правила разрешают ещё одно списание по счёту сейчас.',
  'No other charge by waiting: {refused}. The payer can pay the invoice.':
    'Ожидание не поможет: {refused}. Плательщик может оплатить счёт.',
  'No other charge: the invoice is due at {due}, and until {time} {refused}. The payer can pay the invoice.':
    'Другого списания не будет: срок счёта {due}, а до {time} {refused}. Плательщик может оплатить счёт.',
  'The next charge is possible. Until then: {refused}.': 'Следующее списание возможно. До этого: {refused}.',
  'No charge while {reason}.': 'Списание невозможно, пока {reason}.',
  'The rules allow a charge now.': 'Правила разрешают списание сейчас.',
  'No charge by waiting: {refused}.': 'Ожидание не поможет: {refused}.',
  '{code}, by rule {rule} of {pack}': '{code}, по правилу {rule} из {pack}',
  'the shop does not exist': 'магазина не существует',
  'the merchant is blocked or suspended': 'мерчант заблокирован или приостановлен',
  'the shop is blocked or suspended': 'магазин заблокирован или приостановлен',

  // Postings, emails and webhooks.
  'Posted: {step}, from {debit} to {credit}.': 'Проведено: {step}, с {debit} на {credit}.',
  'Reserved: {step}, from {debit} to {credit}.': 'Зарезервировано: {step}, с {debit} на {credit}.',
  'Posted what was reserved: {step}, from {debit} to {credit}.':
    'Проведено зарезервированное: {step}, с {debit} на {credit}.',
  'Released what was reserved: {step}, from {debit} to {credit}.':
    'Резерв снят: {step}, с {debit} на {credit}.',
  'Receipt queued.': 'Чек поставлен в очередь.',
  'Receipt kept in the outbox of the sandbox.': 'Чек оставлен в исходящих песочницы.',
  'Receipt sent to the payer.': 'Чек отправлен плательщику.',
  'Receipt refused by the mail server: {refusal}': 'Почтовый сервер не принял чек: {refusal}',
  'Earlier attempts are not shown.': 'Более ранние попытки не показаны.',
  '{event}, attempt {attempt}: accepted.': '{event}, попытка {attempt}: принято.',
  '{event}, attempt {attempt}: failed with {failure}.': '{event}, попытка {attempt}: не удалось, {failure}.',
  'Parked until you resume the queue.': 'Очередь остановлена, пока вы её не возобновите.',
  'Next attempt, after {attempts} failed.': 'Следующая попытка. Неудачных до неё: {attempts}.',
  'Waits to be delivered.': 'Ждёт доставки.',
  'An earlier webhook event comes first.': 'Сначала доставляется более раннее событие.',
  'Last failure: {failure}.': 'Последняя неудача: {failure}.',

  // What a decline means for the merchant.
  'Time can help: retry on another day.': 'Поможет время: повторите в другой день.',
  'Time seldom helps: retry a few times, then ask the payer for another card.':
    'Время помогает редко: повторите несколько раз, потом попросите у плательщика другую карту.',
  'The payer can help: ask them to call their bank.':
    'Поможет плательщик: попросите его позвонить в свой банк.',
  'Time can help: retry on the next day.': 'Поможет время: повторите на следующий день.',
  'The payer can help: send them a link to pay with another card.':
    'Поможет плательщик: отправьте ему ссылку на оплату другой картой.',
  'The payer can help: send them a link to pay with 3-D Secure.':
    'Поможет плательщик: отправьте ему ссылку на оплату с 3-D Secure.',
  'Only a new consent of the payer can help. Do not charge.':
    'Поможет только новое согласие плательщика. Не списывайте.',
  'You or the operator can help: correct the set-up. Write nothing to the payer.':
    'Поможете вы или оператор: исправьте настройку. Плательщику ничего не пишите.',

  // What a failure means, who can help, and how.
  '{code}.': '{code}.',
  'Who can help: {who}. {what}': 'Кто поможет: {who}. {what}',
  you: 'вы',
  'the payer': 'плательщик',
  'the cardholder': 'держатель карты',
  'the operator': 'оператор',
  time: 'время',
  'time, or the cardholder': 'время или держатель карты',
  'time, or the payer': 'время или плательщик',
  'the cardholder, or the operator': 'держатель карты или оператор',
  'Ask them for another card.': 'Попросите другую карту.',
  'Ask them to call their bank, or for another card.': 'Попросите позвонить в банк или взять другую карту.',
  'The wallet had too little money when the payout began.':
    'Когда выплата началась, в кошельке было слишком мало денег.',
  'Put money into the wallet, and create the payout again.': 'Пополните кошелёк и создайте выплату снова.',
  'The account or the card is blocked.': 'Счёт или карта заблокированы.',
  'The amount is above a limit of the card.': 'Сумма больше лимита карты.',
  'Retry on another day, or with less.': 'Повторите в другой день или на меньшую сумму.',
  'The card was used too often.': 'Картой пользовались слишком часто.',
  'Retry on another day.': 'Повторите в другой день.',
  'The card has no account.': 'У карты нет счёта.',
  'The card is lost or stolen; `bank.code` says which.':
    'Карта потеряна или украдена; что именно, говорит `bank.code`.',
  'Do not try this card again. Do not say why.': 'Не пробуйте эту карту снова. Не говорите почему.',
  'The bank does not know the card number.': 'Банк не знает номера карты.',
  'The account has too little money.': 'На счёте слишком мало денег.',
  'The bank does not serve your shop.': 'Банк не обслуживает ваш магазин.',
  'Ask the operator to talk to the bank.': 'Попросите оператора поговорить с банком.',
  'The bank, the network or the consent does not allow it. `declineClass` and `bank.code` say more.':
    'Этого не разрешает банк, сеть или согласие. Подробнее: `declineClass` и `bank.code`.',
  'Look at `declineClass`. Do not retry unchanged.':
    'Посмотрите `declineClass`. Не повторяйте без изменений.',
  'The card has expired.': 'Срок карты истёк.',
  'Ask them to check the number.': 'Попросите проверить номер.',
  'The security code is wrong.': 'Код безопасности неверен.',
  'Ask them to enter the card again.': 'Попросите ввести карту снова.',
  'No bank has issued this card.': 'Ни один банк не выпускал такой карты.',
  'Ask them to check the number, or for another card.': 'Попросите проверить номер или взять другую карту.',
  'The bank does not take this card.': 'Банк не принимает эту карту.',
  'The bank did not decide in time. Whatever it did was reversed.':
    'Банк не решил вовремя. Что бы он ни сделал, это отменено.',
  'Try again later. If it continues, ask the operator.':
    'Попробуйте позже. Если это продолжается, спросите оператора.',
  'The issuer declines and gives no reason.': 'Эмитент отказывает без причины.',
  'The issuer suspects fraud, or wants the payer to authenticate.':
    'Эмитент подозревает мошенничество или хочет аутентификации плательщика.',
  'Ask them to pay, present, with 3-D Secure.': 'Попросите заплатить лично, с 3-D Secure.',
  'The issuer or the network could not be reached; `bank.code` says which.':
    'Эмитент или сеть недоступны; кто именно, говорит `bank.code`.',
  'Try again later.': 'Попробуйте позже.',
  'The code of the bank has no meaning here, or an operator ended it.':
    'Код банка здесь ничего не значит, или платёж завершил оператор.',
  'Read `bank`, and ask the operator.': 'Прочитайте `bank` и спросите оператора.',
  'The customer was deleted meanwhile.': 'Покупателя тем временем удалили.',
  'Create another customer.': 'Создайте другого покупателя.',
  'No bank pays out this currency and amount.': 'Ни один банк не выплачивает такую сумму в этой валюте.',
  'Ask the operator for a payout terminal.': 'Попросите у оператора терминал для выплат.',
  'The payer did not pass 3-D Secure.': 'Плательщик не прошёл 3-D Secure.',
  'Ask them to try again, or for another card.': 'Попросите попробовать снова или взять другую карту.',
  'The payer left 3-D Secure, or took too long.': 'Плательщик ушёл из 3-D Secure или не успел.',
  'Ask them to try again.': 'Попросите попробовать снова.',
  '3-D Secure was not available.': '3-D Secure был недоступен.',
  'Try again later, or ask for another card.': 'Попробуйте позже или попросите другую карту.',
  'The time for saving the card is over.': 'Время на сохранение карты истекло.',
  'Ask them to begin again.': 'Попросите начать сначала.',

  // Codes of the API, which English has as they are.
  recurrentStopped: 'правила остановили списания',
  recurrentConsentRevoked: 'согласие отозвано',
  recurrentConsentExpired: 'срок согласия истёк',
  recurrentCardExpired: 'срок карты истёк',
  recurrentRetryWindowExpired: 'время для повторных попыток истекло',
  recurrentRetryTooEarly: 'для повторной попытки слишком рано',
  recurrentRetryLimitReached: 'повторных попыток уже слишком много',
  recurrentParentStale: 'последнее списание было слишком давно',
  recurrentAmountAboveConsent: 'сумма больше, чем в согласии',
  recurrentPeriodAlreadyCharged: 'за этот период уже списано',
  recurrentTerminalPaused: 'терминал приостановлен',
  recurrentGapExceeded: 'без списаний прошло слишком много времени',
  recurrentParentNotLatest: 'родительский платёж не последний',
  amountAboveConsent: 'сумма больше, чем в согласии',
  amountBelowConsent: 'сумма меньше, чем в согласии',
  periodAlreadyCharged: 'за этот период уже списано',
  lowValue: 'малая сумма',
  secureCorporate: 'защищённый корпоративный платёж',
  trustedBeneficiary: 'доверенный получатель',
  transactionRiskAnalysis: 'анализ риска платежа',
  challenge: 'с подтверждением',
  frictionless: 'без подтверждения',
  attempt: 'попытка',
  none: 'не было',
  sale: 'продажа',
  fee: 'комиссия',
  hold: 'удержание',
  charge: 'списание',
  refund: 'возврат',
  refund_fee: 'комиссия за возврат',
  return: 'возврат плательщику',
  returned: 'деньги вернулись',
  returned_fee: 'комиссия вернулась',
  uncaptured: 'не выплачено банком',
  uncaptured_fee: 'комиссия за невыплаченное',
  undone_charge: 'отменённое списание',
  undone_refund: 'отменённый возврат',
  payout: 'выплата',
  payout_fee: 'комиссия за выплату',
  'internal error': 'внутренняя ошибка',
  timeout: 'время ожидания истекло',
  'no answer': 'нет ответа',
  '{word}': '{word}',
  'something that this version does not know': 'то, чего эта версия не знает',
} as const;

export type Phrase = keyof typeof phrases;
/** One without a gap. */
export type WholePhrase = Exclude<Phrase, `${string}{${string}`>;
export type Language = 'en' | 'ru';
