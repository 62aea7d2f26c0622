# Run by npm run clients:try with the client of openapi-python-client.
import sys
import time
from datetime import datetime, timezone

from mandate_client import AuthenticatedClient
from mandate_client import models
from mandate_client.api.cards import create_payment_resource
from mandate_client.api.customers import create_binding, create_customer, get_binding
from mandate_client.api.destinations import create_destination, get_destination, store_bank_card
from mandate_client.api.identities import create_identity
from mandate_client.api.invoices import create_invoice
from mandate_client.api.payments import create_payment, get_payment
from mandate_client.api.wallets import create_wallet
from mandate_client.api.withdrawals import create_withdrawal, get_withdrawal

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])


def got(answer):
    if answer.status_code >= 300:
        raise RuntimeError(f"refused: {answer.status_code} {answer.content!r}")
    return answer.parsed


def until(read, wanted):
    for _ in range(100):
        status = str(getattr(got(read()).status, "value", got(read()).status))
        if status == wanted:
            return
        if status.lower() == "failed":
            raise RuntimeError(f"it is {status}")
        time.sleep(0.1)
    raise RuntimeError(f"it is never {wanted}")


def card():
    body = models.PaymentResourceParams.from_dict(
        {
            "paymentTool": {
                "paymentToolType": "CardData",
                "cardNumber": "4242424242424242",
                "expDate": "12/35",
                "cvv": "123",
            },
            "clientInfo": {"fingerprint": "python"},
        }
    )
    return got(create_payment_resource.sync_detailed(client=client, body=body))


def invoice():
    body = models.InvoiceParams(
        shop_id="TEST",
        due_date=datetime(2040, 1, 1, tzinfo=timezone.utc),
        amount=6000,
        currency="RUB",
        product="Tea",
        metadata=models.InvoiceParamsMetadata(),
    )
    return got(create_invoice.sync_detailed(client=client, body=body)).invoice.id


def pay(invoice_id, payer, make_recurrent=False):
    body = models.PaymentParams(payer=payer, make_recurrent=make_recurrent)
    payment = got(create_payment.sync_detailed(invoice_id, client=client, body=body))
    until(lambda: get_payment.sync_detailed(invoice_id, payment.id, client=client), "captured")
    return payment.id


first = invoice()
contact = models.ContactInfo(email="payer@example.com")
payer = models.PaymentResourcePayerParams(
    payer_type="PaymentResourcePayer", payment_tool_token=card().payment_tool_token, contact_info=contact
)
paid = pay(first, payer, make_recurrent=True)
parent = models.PaymentRecurrentParent(invoice_id=first, payment_id=paid)
pay(
    invoice(),
    models.RecurrentPayerParams(
        payer_type="RecurrentPayer", recurrent_parent_payment=parent, contact_info=models.ContactInfo()
    ),
)

body = models.CustomerParams.from_dict({"shopID": "TEST", "contactInfo": {}, "metadata": {}})
customer = got(create_customer.sync_detailed(client=client, body=body)).customer.id
saved = card()
resource = {"paymentToolToken": saved.payment_tool_token, "paymentSession": saved.payment_session}
body = models.CustomerBindingParams.from_dict({"paymentResource": resource})
bound = got(create_binding.sync_detailed(customer, client=client, body=body)).id
until(lambda: get_binding.sync_detailed(customer, bound, client=client), "succeeded")

body = models.Identity.from_dict({"name": "Ann", "provider": "test", "class": "person"})
identity = got(create_identity.sync_detailed(client=client, body=body)).id
body = models.Wallet.from_dict({"name": "Out", "identity": identity, "currency": "RUB"})
wallet = got(create_wallet.sync_detailed(client=client, body=body)).id
body = models.BankCard.from_dict({"type": "BankCard", "cardNumber": "4242424242424242", "expDate": "12/35"})
token = got(store_bank_card.sync_detailed(client=client, body=body)).token
body = models.Destination.from_dict(
    {
        "name": "Card",
        "identity": identity,
        "currency": "RUB",
        "resource": {"type": "BankCardDestinationResource", "token": token},
    }
)
destination = got(create_destination.sync_detailed(client=client, body=body)).id
until(lambda: get_destination.sync_detailed(destination, client=client), "Authorized")
body = models.WithdrawalParameters.from_dict(
    {"wallet": wallet, "destination": destination, "body": {"amount": 1000, "currency": "RUB"}}
)
withdrawal = got(create_withdrawal.sync_detailed(client=client, body=body)).id
until(lambda: get_withdrawal.sync_detailed(withdrawal, client=client), "Succeeded")
print("python: done")
