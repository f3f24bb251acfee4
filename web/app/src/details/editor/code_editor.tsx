// One CodeMirror editor. Tab goes on to the next control (or takes the completion that is open), Escape leaves the
// text: nobody is trapped in it.
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  completionStatus,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, type Extension, Prec } from "@codemirror/state";
import { EditorView, keymap, tooltips } from "@codemirror/view";
import { useEffect, useEffectEvent, useRef } from "react";
import { classes } from "~/ui";
import type { Range } from "../position";
import { editorTheme } from "./theme";

export interface Mark extends Range {
  message: string;
}

export interface CodeEditorProps {
  text: string;
  /** Read aloud. */
  label: string;
  /** Language and completion; keep it the same between renderings. */
  language: Extension;
  /** Places that are wrong, in the text as it is. */
  marks?: readonly Mark[];
  /** Without it the text is only for reading. */
  onChange?: ((text: string) => void) | undefined;
  /** ⌘ or Ctrl with Enter. */
  onSubmit?: (() => void) | undefined;
  /** Escape: the focus goes on. */
  onLeave?: (() => void) | undefined;
  className?: string;
}

/** A text that was set from outside is known there already. */
const fromOutside = Annotation.define<boolean>();

const NO_MARKS: readonly Mark[] = [];

export function CodeEditor({ text, label, language, marks = NO_MARKS, ...rest }: CodeEditorProps) {
  const { onChange, onSubmit, onLeave, className } = rest;
  const readOnly = onChange === undefined;
  const place = useRef<HTMLDivElement>(null);
  const shown = useRef<EditorView | null>(null);
  const speech = useRef(new Compartment());
  const changed = useEffectEvent((next: string) => onChange?.(next));
  const submitted = useEffectEvent(() => onSubmit?.());
  const left = useEffectEvent(() => onLeave?.());
  const first = useEffectEvent(() => ({ text, language }));

  useEffect(() => {
    if (!place.current) return;
    const begin = first();
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: begin.text,
        extensions: [
          speech.current.of(begin.language),
          readOnly ? reading(label) : writing(label, changed, submitted),
          editorTheme,
          EditorView.lineWrapping,
          // Not cut off by the panel's own scrolling.
          tooltips({ position: "fixed" }),
        ],
      }),
    });
    shown.current = view;
    const stop = onEscape(view, left);
    return () => {
      stop();
      shown.current = null;
      view.destroy();
    };
  }, [label, readOnly]);

  useEffect(() => {
    shown.current?.dispatch({ effects: speech.current.reconfigure(language) });
  }, [language]);

  useEffect(() => {
    const view = shown.current;
    if (!view || view.state.doc.toString() === text) return;
    const changes = { from: 0, to: view.state.doc.length, insert: text };
    view.dispatch({ changes, annotations: fromOutside.of(true) });
  }, [text]);

  useEffect(() => {
    const view = shown.current;
    if (view) view.dispatch(setDiagnostics(view.state, diagnostics(marks, view.state.doc.length)));
  }, [marks]);

  return (
    <div
      ref={place}
      className={classes(
        "overflow-hidden rounded-md border focus-within:border-accent focus-within:ring-1 focus-within:ring-accent",
        readOnly ? "" : "border-control",
        "[&_.cm-scroller]:max-h-[min(360px,45dvh)]",
        !readOnly && "[&_.cm-content]:min-h-24!",
        className,
      )}
    />
  );
}

function diagnostics(marks: readonly Mark[], length: number): Diagnostic[] {
  return marks.map(({ from, to, message }) => ({
    from: Math.min(from, length),
    to: Math.min(to, length),
    message,
    severity: "error",
  }));
}

function reading(label: string): Extension {
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
  ];
}

function writing(label: string, changed: (text: string) => void, submitted: () => void): Extension {
  const submit = () => {
    submitted();
    return true;
  };
  return [
    history(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false, activateOnTypingDelay: 50 }),
    lintGutter(),
    Prec.highest(
      keymap.of([
        { key: "Mod-Enter", run: submit },
        { key: "Tab", run: acceptCompletion },
      ]),
    ),
    keymap.of([
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-description": "Escape leaves the text",
      tabindex: "0",
      autocapitalize: "off",
      autocorrect: "off",
      spellcheck: "false",
    }),
    EditorView.updateListener.of((update) => {
      const given = update.transactions.some((one) => one.annotation(fromOutside));
      if (update.docChanged && !given) changed(update.state.doc.toString());
    }),
  ];
}

/** Before anyone else hears of it: a sheet around the editor would close. */
function onEscape(view: EditorView, leave: () => void): () => void {
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !view.hasFocus) return;
    event.preventDefault();
    event.stopPropagation();
    if (completionStatus(view.state) !== null) closeCompletion(view);
    else {
      view.contentDOM.blur();
      leave();
    }
  };
  window.addEventListener("keydown", pressed, { capture: true });
  return () => window.removeEventListener("keydown", pressed, { capture: true });
}
