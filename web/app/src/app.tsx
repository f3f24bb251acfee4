import { QueryClientProvider } from "@tanstack/react-query";
import { lazy } from "react";
import { BrowserRouter, Route, Routes } from "react-router";
import { newQueryClient } from "./api/queries";
import { Frame } from "./frame/frame";
import { DetailsProvider } from "./shell/details";
import { Missing } from "./shell/missing";
import { TooltipProvider } from "./ui";

const AskPage = lazy(() => import("./ask/page"));
const DataPage = lazy(() => import("./data/page"));
const RunsPage = lazy(() => import("./runs/page"));
const RunPage = lazy(() => import("./runs/run_page"));
const ComparePage = lazy(() => import("./runs/compare_page"));
const BoardsPage = lazy(() => import("./boards/page"));
const BoardPage = lazy(() => import("./boards/board_page"));
const PeoplePage = lazy(() => import("./people/page"));
const AccountPage = lazy(() => import("./people/account_page"));

const queries = newQueryClient();

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <TooltipProvider>
        <BrowserRouter>
          <DetailsProvider>
            <Routes>
              <Route element={<Frame />}>
                {/* One element for both, so that an answer under way survives when its thread gets an address. */}
                <Route element={<AskPage />}>
                  <Route index element={null} />
                  <Route path="t/:threadId" element={null} />
                </Route>
                <Route path="data" element={<DataPage />} />
                <Route path="data/:datasetId" element={<DataPage />} />
                <Route path="runs" element={<RunsPage />} />
                <Route path="runs/:runId" element={<RunPage />} />
                <Route path="boards" element={<BoardsPage />} />
                <Route path="boards/:boardId" element={<BoardPage />} />
                <Route path="compare" element={<ComparePage />} />
                <Route path="people" element={<PeoplePage />} />
                <Route path="account" element={<AccountPage />} />
                <Route path="*" element={<Missing />} />
              </Route>
            </Routes>
          </DetailsProvider>
        </BrowserRouter>
      </TooltipProvider>
    </QueryClientProvider>
  );
}
