// One conversation on screen: asks, listens, stops, branches, and takes up what is under way. It renders
// nothing; its state changes by replacement only.
// Invariant: a turn that was shown as under way always gets an ending, whatever the connection does.
import type { PlanJson } from "~/api/model";
import { type Problem, problemOf } from "~/api/problem";
import type { ThreadRun } from "~/api/threads";
import { reduceError, stopped } from "~/events/reduce";
import { newTurn, type Turn } from "~/events/turn";
import { type Exchange, exchangeId, withExchanges } from "./exchange";
import { exchangeOf, hear } from "./hear";
import { newId } from "./ids";
import { type Decision, ended, type Live, NOTHING, type SessionState } from "./session_state";
import { type Answer, type Question, treeFromHistory } from "./tree";
import type { Order, StreamPart, Wire } from "./wire";

export interface SessionEvents {
  /** The server has begun a turn of this thread; it may be new. */
  onBegun?: (threadId: string) => void;
  onEnded?: (threadId: string) => void;
}

export class Session {
  private state: SessionState = NOTHING;
  private listening = new AbortController();
  private readonly watchers = new Set<() => void>();
  private reading: Promise<void> = Promise.resolve();

  constructor(
    private readonly wire: Wire,
    private readonly events: SessionEvents = {},
    /** Before each try to connect again, in milliseconds. */
    private readonly waits: readonly number[] = [500, 1_000, 2_000, 3_000, 3_000, 3_000],
  ) {}

  get = (): SessionState => this.state;

  subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** A page for a new question; what is under way elsewhere goes on without being listened to. */
  clear(): void {
    this.listening.abort();
    this.listening = new AbortController();
    this.state = NOTHING;
    this.tell();
  }

  /** Shows a thread, and goes on with what is under way in it. */
  async open(threadId: string): Promise<void> {
    this.clear();
    const { signal } = this.listening;
    this.set({ threadId, opening: true });
    try {
      const [thread, history] = await Promise.all([this.wire.thread(threadId), this.wire.history(threadId)]);
      if (signal.aborted) return;
      const kept = treeFromHistory(history);
      const datasetId = thread.metadata.graph_id ?? thread.values?.dataset_id ?? null;
      this.set({ datasetId, kept, head: kept.head, opening: false });
      const last = kept.answers.find((one) => one.id === kept.head);
      if (thread.status === "busy" || last?.turn.ending === null) await this.takeUp(signal);
    } catch (thrown) {
      if (!signal.aborted) this.set({ opening: false, problem: problemOf(thrown) });
    }
  }

  /** `chosen`: a plan to run as the answer. Whether it was taken: not while another answer is under way. */
  ask(text: string, datasetId: string, chosen: PlanJson | null = null): boolean {
    const question = text.trim();
    if (this.state.live || question === "") return false;
    const { head, kept } = this.state;
    const checkpointId = head === kept.head ? null : this.placeAfter(head);
    this.set({ datasetId });
    void this.play(this.exchange(newId(), question, head, chosen), { isNew: true, checkpointId });
    return true;
  }

  /** The same question in other words: a branch beside it. */
  async edit(questionId: string, text: string): Promise<void> {
    const question = text.trim();
    if (this.state.live || question === "") return;
    const edited = await this.known(questionId, (one) => one.before !== null);
    const exchange = this.exchange(newId(), question, edited?.parent ?? null);
    // A question that never reached the server has nothing to branch from.
    await this.play(exchange, { isNew: true, checkpointId: edited?.before ?? null });
  }

  /** Another answer to the same question, beside the one there is. */
  async again(questionId: string): Promise<void> {
    if (this.state.live) return;
    const question = await this.known(questionId, (one) => one.at !== null);
    if (!question) return;
    const exchange = this.exchange(question.id, question.text, question.parent, question.chosen);
    if (question.at) await this.play(exchange, { isNew: false, checkpointId: question.at });
    else {
      // It never reached the server: what is on screen of it gives way to this try.
      this.drop(question.id);
      await this.play(exchange, { isNew: true, checkpointId: this.placeAfter(question.parent) });
    }
  }

  /** After a failure: listens again to what the server may still be answering, or asks for another answer. */
  async retry(answer: Answer): Promise<void> {
    const { threadId, exchanges, live } = this.state;
    if (live) return;
    const cut = exchanges.find((one) => exchangeId(one) === answer.id);
    if (!threadId || !cut?.threadRunId || cut.turn.problem?.code !== "NETWORK") {
      await this.again(answer.question);
      return;
    }
    const open = { ...cut, turn: { ...cut.turn, ending: null, problem: null } };
    this.set({
      exchanges: [...exchanges.filter((one) => one !== cut), open],
      head: answer.id,
      live: { threadRunId: cut.threadRunId, since: Date.now(), stopping: false, lost: true },
    });
    const { signal } = this.listening;
    await this.listen(this.wire.join(threadId, cut.threadRunId, signal, cut.heard), signal);
  }

  /** Goes on with, or without, what waits for a person's approval. */
  decide(answer: Answer, decision: Decision): void {
    if (this.state.live) return;
    const parent = this.question(answer.question)?.parent ?? null;
    const { plan, reading, readAs, waiting } = answer.turn;
    // Edited SQL is no longer what the question was read as; edited code is one step of several.
    const other = decision.type === "edit" && waiting?.tool !== "execute_python";
    const read = other ? { plan: null, reading: "", readAs: null } : { plan, reading, readAs };
    const turn: Turn = { ...answer.turn, ...read, ending: null, text: "", waiting: null };
    this.drop(answer.question);
    const exchange: Exchange = { questionId: answer.question, parent, threadRunId: null, heard: "", turn };
    void this.play(exchange, { isNew: false, resume: { decisions: [decision] } });
  }

  /** Cancels on the server, and waits until it has ended there. */
  async stop(): Promise<void> {
    const { live, threadId } = this.state;
    if (!live || live.stopping) return;
    this.setLive({ stopping: true });
    // Before the server has begun it, there is nothing to cancel yet: `begun` does it then.
    if (live.threadRunId && threadId) await this.cancel(threadId, live.threadRunId);
  }

  show(head: string): void {
    if (!this.state.live) this.set({ head });
  }

  dismiss(): void {
    this.set({ notice: null });
  }

  private exchange(
    questionId: string,
    text: string,
    parent: string | null,
    chosen: PlanJson | null = null,
  ): Exchange {
    return { questionId, parent, threadRunId: null, heard: "", turn: newTurn(text, questionId, chosen) };
  }

  private async play(exchange: Exchange, how: How): Promise<void> {
    const { signal } = this.listening;
    const { datasetId } = this.state;
    const threadId = this.state.threadId ?? newId();
    if (datasetId === null) return;
    this.set({
      threadId,
      notice: null,
      exchanges: [...this.state.exchanges, exchange],
      head: exchangeId(exchange),
      live: { threadRunId: null, since: Date.now(), stopping: false, lost: false },
    });
    const { question: text, chosen: plan } = exchange.turn;
    const order: Order = {
      threadId,
      datasetId,
      ...(how.isNew ? { message: { id: exchange.questionId, text, plan } } : {}),
      ...(how.resume === undefined ? {} : { resume: how.resume }),
      checkpointId: how.checkpointId ?? null,
      signal,
      onBegun: (threadRunId) => {
        if (!signal.aborted) this.begun(threadId, threadRunId);
      },
    };
    await this.listen(this.wire.start(order), signal);
  }

  /** Reads a stream to its end, over lost connections. The last exchange is the one it is about. */
  private async listen(parts: AsyncIterable<StreamPart>, signal: AbortSignal): Promise<void> {
    const unwatch = this.wire.onReconnect(() => this.setLive({ lost: true }));
    const broken = await this.heardOut(parts, signal);
    unwatch();
    if (signal.aborted) return;
    this.change((exchange) => ({ ...exchange, turn: ended(exchange.turn, broken, this.state.live) }));
    this.set({ live: null });
    if (this.state.threadId) this.events.onEnded?.(this.state.threadId);
    this.refresh(signal);
  }

  /** What broke it off in the end; nothing when it was heard out. */
  private async heardOut(parts: AsyncIterable<StreamPart>, signal: AbortSignal): Promise<Problem | null> {
    let [stream, tries] = [parts, 0];
    for (;;) {
      try {
        for await (const part of stream) {
          if (signal.aborted) return null;
          tries = 0;
          if (this.state.live?.lost) this.setLive({ lost: false });
          this.change((exchange) => hear(exchange, part));
        }
        return null;
      } catch (thrown) {
        const problem = problemOf(thrown);
        const { live, threadId } = this.state;
        const wait = this.waits[tries];
        const cut = problem.code === "NETWORK" && problem.status === 0;
        if (signal.aborted || !cut || wait === undefined || !threadId || !live?.threadRunId) return problem;
        tries += 1;
        this.setLive({ lost: true });
        await new Promise((resolve) => setTimeout(resolve, wait));
        if (signal.aborted) return null;
        stream = this.wire.join(threadId, live.threadRunId, signal, this.state.exchanges.at(-1)?.heard);
      }
    }
  }

  /** Joins the newest run of the thread: it is under way, or it ended without a kept answer. */
  private async takeUp(signal: AbortSignal): Promise<void> {
    const { threadId } = this.state;
    const run = threadId ? await this.wire.newestRun(threadId) : null;
    if (signal.aborted || !threadId) return;
    if (run && (await this.replay(threadId, run, signal))) return;
    const last = this.answer(this.state.head);
    if (signal.aborted || !last || last.turn.ending !== null) return;
    // Its events are not kept any more: only that it did not end is known.
    const parent = this.question(last.question)?.parent ?? null;
    const turn = run?.error ? reduceError(last.turn, run.error) : stopped(last.turn);
    const exchange = { questionId: last.question, parent, threadRunId: run?.run_id ?? null, heard: "", turn };
    this.set({ exchanges: [exchange], head: exchangeId(exchange) });
  }

  /** Whether the run's events told anything. */
  private async replay(threadId: string, run: ThreadRun, signal: AbortSignal): Promise<boolean> {
    const underWay = run.status === "pending" || run.status === "running";
    if (underWay) {
      const since = Math.min(Date.parse(run.created_at) || Date.now(), Date.now());
      this.set({ live: { threadRunId: run.run_id, since, stopping: false, lost: false } });
    }
    const parts = this.wire.join(threadId, run.run_id, signal)[Symbol.asyncIterator]();
    try {
      for (let next = await parts.next(); !next.done; next = await parts.next()) {
        if (signal.aborted) return true;
        const parentOf = (id: string) => this.question(id)?.parent ?? this.state.kept.head;
        const exchange = exchangeOf(next.value, run.run_id, parentOf);
        if (!exchange) continue;
        this.set({ exchanges: [exchange], head: exchangeId(exchange) });
        await this.listen({ [Symbol.asyncIterator]: () => parts }, signal);
        return true;
      }
    } catch (thrown) {
      if (!signal.aborted) this.set({ notice: problemOf(thrown) });
    }
    if (!signal.aborted) this.set({ live: null });
    return false;
  }

  private begun(threadId: string, threadRunId: string): void {
    this.setLive({ threadRunId });
    this.change((exchange) => ({ ...exchange, threadRunId }));
    this.events.onBegun?.(threadId);
    if (this.state.live?.stopping) void this.cancel(threadId, threadRunId);
  }

  private async cancel(threadId: string, threadRunId: string): Promise<void> {
    const { signal } = this.listening;
    try {
      await this.wire.cancel(threadId, threadRunId);
    } catch (thrown) {
      if (signal.aborted) return;
      this.setLive({ stopping: false });
      this.set({ notice: problemOf(thrown) });
    }
  }

  private refresh(signal: AbortSignal): void {
    const { threadId } = this.state;
    if (!threadId) return;
    this.reading = this.wire.history(threadId).then(
      (history) => {
        if (!signal.aborted) this.set({ kept: treeFromHistory(history) });
      },
      (thrown: unknown) => {
        // A thread that was never begun has no history; else the next try reads it again.
        const problem = problemOf(thrown);
        if (!signal.aborted && problem.status !== 404 && problem.code !== "NETWORK")
          this.set({ notice: problem });
      },
    );
  }

  /** A question with the place that is needed, read from the thread again where it is not known yet. */
  private async known(questionId: string, enough: (one: Question) => boolean): Promise<Question | undefined> {
    const there = () => this.state.kept.questions.find((one) => one.id === questionId);
    await this.reading;
    const found = there();
    if (found && enough(found)) return found;
    this.refresh(this.listening.signal);
    await this.reading;
    return there() ?? this.question(questionId);
  }

  private question = (id: string): Question | undefined =>
    this.state.tree.questions.find((one) => one.id === id);

  private answer = (id: string | null): Answer | undefined =>
    this.state.tree.answers.find((one) => one.id === id);

  /** Where the conversation goes on after an answer; after its question, where the answer was not kept. */
  private placeAfter(answerId: string | null): string | null {
    const answer = this.answer(answerId);
    return answer?.at ?? (answer && this.question(answer.question)?.at) ?? null;
  }

  private drop(questionId: string): void {
    this.set({ exchanges: this.state.exchanges.filter((one) => one.questionId !== questionId) });
  }

  /** Changes the last exchange; the head follows it when its id changes. */
  private change(by: (exchange: Exchange) => Exchange): void {
    const { exchanges } = this.state;
    const last = exchanges.at(-1);
    if (!last) return;
    const next = by(last);
    if (next !== last) this.set({ exchanges: [...exchanges.slice(0, -1), next], head: exchangeId(next) });
  }

  private setLive(change: Partial<Live>): void {
    if (this.state.live) this.set({ live: { ...this.state.live, ...change } });
  }

  private set(change: Partial<SessionState>): void {
    const next = { ...this.state, ...change };
    if (next.kept !== this.state.kept || next.exchanges !== this.state.exchanges) {
      next.tree = withExchanges(next.kept, next.exchanges);
    }
    this.state = next;
    this.tell();
  }

  private tell(): void {
    for (const watcher of this.watchers) watcher();
  }
}

interface How {
  isNew: boolean;
  checkpointId?: string | null;
  resume?: unknown;
}
