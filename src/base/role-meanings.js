/** All descriptions of roles use these texts. */
export const roleMeanings = {
  read: 'read everything except amounts and content. Links to results are shown without their query, and results without `b64_json`. Every operator has this role',
  amounts:
    'see amounts: holds, charges, costs, margins, balances, caps, the ledger and reports. Without it, amounts are left out, and routes about money refuse the request. Prices are part of the configuration, which `read` shows',
  tasks: 'act on tasks, except for actions that move money in other ways than releasing a hold',
  money:
    'credit, refund, accept a charge, complete a task, set overdrafts, price factors, caps and alerts of accounts. Includes `amounts`',
  access:
    'create, close and reopen accounts; create, rotate and revoke keys; rotate webhook secrets; invite operators, with no more roles than its own; see and end all console sessions',
  content:
    'read callers’ requests, full links to results, and (with `amounts`) the export of an account. Every operator sees an upstream’s message about a failure, without the caller’s own text',
  configuration:
    'switch channels and circuits; edit, publish, reload and roll back the configuration, and add models from the catalogue; test notices',
};
