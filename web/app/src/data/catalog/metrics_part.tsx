import { X } from "lucide-react";
import type { Catalog, Dataset, MetricSemantics } from "~/api/model";
import { IconButton } from "~/ui";
import { metricWords } from "../metric_words";
import { FORMATS } from "../metrics";
import { NewMetric } from "./new_metric";
import { Proposal, Proposals } from "./proposal";
import { Section } from "./section";
import { adding, type ListEdits, listWith, metricsChanges, removing } from "./stating";
import { dismissal, type Proposed } from "./use_proposals";
import { useEdits, useSaving } from "./use_saving";

const NOTHING: ListEdits<MetricSemantics> = { added: {}, removed: [] };

interface MetricsPartProps {
  dataset: Dataset;
  catalog: Catalog;
  proposed: Proposed;
}

export function MetricsPart({ dataset, catalog, proposed }: MetricsPartProps) {
  const [edits, setEdits] = useEdits(`${dataset.id} metrics`, NOTHING);
  const saving = useSaving(dataset.id, catalog, () => setEdits(NOTHING));
  const metrics = listWith(catalog.semantics.metrics ?? {}, edits);
  const names = Object.keys(metrics);
  return (
    <Section
      what="the metrics"
      isEdited={edits !== NOTHING}
      saving={saving}
      onSave={(note) => saving.save(metricsChanges(catalog.stated, catalog.found, metrics), note)}
      onUndo={() => setEdits(NOTHING)}
    >
      <h2 className="font-medium">Metrics</h2>
      <Proposals label="Proposed metrics">
        {proposed.proposals.metrics
          .filter((one) => !Object.hasOwn(metrics, one.name))
          .map((one) => (
            <Proposal
              key={one.name}
              name={one.name}
              title={
                <>
                  <span className="font-mono text-[13px]">{one.name}</span>
                  <span className="ml-2">{metricWords(one.semantics) ?? one.semantics.description}</span>
                </>
              }
              reason={one.reason}
              onUse={() => setEdits(adding(edits, one.name, one.semantics))}
              onDismiss={() => proposed.dismiss(dismissal.metric(one))}
            />
          ))}
      </Proposals>
      {names.length === 0 && (
        <p className="text-ink-2">
          None. A metric gives a computation one name, so that every answer computes it in the same way.
        </p>
      )}
      {names.length > 0 && (
        <ul className="divide-y rounded-md border">
          {Object.entries(metrics).map(([name, metric]) => (
            <li key={name} className="flex items-start gap-2 py-1.5 pr-1 pl-3">
              <span className="min-w-0 flex-1">
                <span className="font-mono text-[13px]">{name}</span>
                <span className="ml-2 text-ink-3 text-small">
                  {FORMATS[metric.format]} · from <span className="font-mono">{metric.table}</span>
                </span>
                <span className="block text-ink-2 text-small">
                  {metricWords(metric) ?? metric.description}
                </span>
              </span>
              <IconButton
                size="smallIcon"
                label={`Remove the metric ${name}`}
                onClick={() => setEdits(removing(edits, name))}
              >
                <X />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <NewMetric
        dataset={dataset}
        taken={names}
        onAdd={(name, metric) => setEdits(adding(edits, name, metric))}
      />
    </Section>
  );
}
