import type { Metric } from "~/api/model";
import { CodeText, Empty } from "~/ui";
import { metricWords } from "./metric_words";

export const FORMATS: Readonly<Record<Metric["format"], string>> = {
  number: "number",
  percent: "percent",
  currency: "amount of money",
  duration: "duration",
};

export function Metrics({ metrics }: { metrics: readonly Metric[] }) {
  if (metrics.length === 0) {
    return (
      <Empty title="No metrics are declared">
        Sums, averages, counts and shares can be asked for all the same.
      </Empty>
    );
  }
  return (
    <ul className="divide-y rounded-md border">
      {metrics.map((metric) => (
        <MetricItem key={metric.name} metric={metric} />
      ))}
    </ul>
  );
}

function MetricItem({ metric }: { metric: Metric }) {
  const words = metricWords(metric);
  const { numerator, denominator } = metric;
  return (
    <li className="p-4">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="font-medium font-mono text-[13px]">{metric.name}</span>
        <span className="text-ink-3 text-small">
          {FORMATS[metric.format]} · from <span className="font-mono">{metric.table}</span>
        </span>
      </p>
      {metric.description && <p className="mt-1">{metric.description}</p>}
      {words && <p className="mt-1 text-ink-2">{words}</p>}
      <details className="mt-2">
        <summary className="w-fit cursor-pointer text-ink-3 text-small hover:text-ink">
          Definition as JSON
        </summary>
        <CodeText
          className="mt-2"
          label={`definition of ${metric.name}`}
          text={JSON.stringify(denominator ? { numerator, denominator } : { numerator }, null, 2)}
        />
      </details>
    </li>
  );
}
