import { useParams } from "react-router";
import { DatasetCommands } from "./commands";
import { DatasetList } from "./dataset_list";
import { DatasetView } from "./dataset_view";

export default function DataPage() {
  const { datasetId } = useParams();
  return (
    <>
      <DatasetCommands />
      {datasetId ? <DatasetView key={datasetId} datasetId={datasetId} /> : <DatasetList />}
    </>
  );
}
