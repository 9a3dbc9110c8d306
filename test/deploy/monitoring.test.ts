import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { findPromtool, runPromtool, untriedWithout } from '../support/promtool.ts';
import { readRepositoryFile } from './compose-file.ts';
import { alerts, dashboard, dashboardExpressions, rulesTestText, rulesText } from './monitoring-files.ts';

const promtool = await findPromtool();
const untried = untriedWithout(promtool);
const rules = { 'mediary.rules.yaml': rulesText };
const names = alerts.map(({ alert }) => alert);

describe('the alert rules', () => {
  it('have distinct names, and are tested with series at which they fire and others at which they do not', () => {
    expect(new Set(names).size).toBe(names.length);
    const { tests } = parse(rulesTestText) as { readonly tests: readonly { readonly name: string }[] };
    const tried = names.flatMap((name) => [`${name} fires`, `${name} does not fire`]);
    expect(tests.map(({ name }) => name)).toEqual(tried);
  });

  it('are explained in docs/operating.md, which explains no others', () => {
    const rows = [
      ...readRepositoryFile('docs/operating.md').matchAll(/^\| `(Mediary\w+)` \| (\w+) \| (.+) \|$/gm),
    ];
    expect(rows.map(([, name, severity]) => [name, severity])).toEqual(
      alerts.map(({ alert, labels }) => [alert, labels.severity]),
    );
    for (const { annotations } of alerts) expect(annotations.runbook).toBe('docs/operating.md#alerts');
  });

  it.skipIf(promtool === undefined)(
    `are accepted by promtool, and behave as intended${untried}`,
    async () => {
      const tests = { ...rules, 'rules.test.yaml': rulesTestText };
      expect(
        await runPromtool(promtool ?? '', ['check', 'rules', 'mediary.rules.yaml'], rules),
      ).toMatchObject({
        passed: true,
      });
      expect(await runPromtool(promtool ?? '', ['test', 'rules', 'rules.test.yaml'], tests)).toMatchObject({
        passed: true,
      });
      const wrong = {
        ...parse(rulesTestText),
        tests: [{ promql_expr_test: [{ expr: '1', eval_time: '1m' }] }],
      };
      const files = { ...rules, 'wrong.yaml': JSON.stringify(wrong) };
      const verdict = await runPromtool(promtool ?? '', ['test', 'rules', 'wrong.yaml'], files);
      expect(verdict).toMatchObject({ passed: false });
    },
  );
});

describe('the dashboard', () => {
  it('has distinct names for its panels, and each panel has a query', () => {
    const panels = dashboard.panels.filter(({ type }) => type !== 'row');
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    expect(panels.filter(({ targets }) => targets.length === 0)).toEqual([]);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it.skipIf(promtool === undefined)(`uses only queries that Prometheus can read${untried}`, async () => {
    const recorded = dashboardExpressions.map(({ expr }, n) => ({ record: `panel_${n}`, expr }));
    const file = JSON.stringify({ groups: [{ name: 'panels', rules: recorded }] });
    const verdict = await runPromtool(promtool ?? '', ['check', 'rules', 'panels.yaml'], {
      'panels.yaml': file,
    });
    expect(verdict).toMatchObject({ passed: true });
  });
});
