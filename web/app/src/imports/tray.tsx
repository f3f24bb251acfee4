// What is being brought in, in a corner of every page.
import { TransferCard } from "./transfer_card";
import { useTransfers } from "./transfers";

export function Tray() {
  const transfers = useTransfers();
  if (transfers.length === 0) return null;
  return (
    <section
      aria-label="Files that are brought in"
      className="fixed right-4 bottom-24 z-30 flex max-h-[70vh] w-[400px] max-w-[calc(100vw-32px)] flex-col gap-2 overflow-auto"
    >
      {transfers.map((one) => (
        <TransferCard key={one.key} transfer={one} />
      ))}
    </section>
  );
}
