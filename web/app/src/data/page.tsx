import { useParams } from "react-router";
import { DatasetList } from "./dataset_list";
import { DatasetView } from "./dataset_view";

export default function DataPage() {
  const { datasetId } = useParams();
  return <>{datasetId ? <DatasetView key={datasetId} datasetId={datasetId} /> : <DatasetList />}</>;
}
