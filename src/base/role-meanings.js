export const roleMeanings = {
  read: 'read everything except amounts and content. Result links are shown without their query strings, and results without `b64_json`. Every operator has this role',
  amounts:
    'see amounts: holds, charges, costs, margins, balances, caps, the ledger and reports. For operators without this role, amounts are omitted, and routes about money reject the request. Prices are part of the configuration, which `read` shows',
  tasks: 'act on tasks, but not in ways that move money, except for releasing a hold',
  money:
    'credit, refund, accept charges, complete tasks, and set accounts’ overdrafts, price factors, caps and alerts. Includes `amounts`',
  access:
    'create, close and reopen accounts; create, rotate and revoke keys; rotate webhook secrets; invite operators, granting only roles that the inviter has; see and end all console sessions',
  content:
    'read callers’ requests and full result links, and (with `amounts`) export accounts. Every operator sees an upstream’s message about a failure, without the caller’s own text',
  configuration:
    'switch channels and circuits; edit, publish, reload and roll back the configuration, and add models from the catalogue; test notices',
};
