import { Link } from "react-router";
import { Empty } from "~/ui";
import { Page } from "./page";
import { places } from "./places";

export function Missing() {
  return (
    <Page title="Not found">
      <Empty title="There is no page at this address.">
        <Link to={places.ask} className="text-accent underline">
          Ask a question
        </Link>
      </Empty>
    </Page>
  );
}
