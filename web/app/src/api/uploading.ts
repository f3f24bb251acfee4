// The bytes of one file, sent in pieces: a dropped connection is taken up where the server stopped.
import { OWN_PAGE } from "./http";
import { isProblemBody, Problem } from "./problem";

const PIECE = 8 << 20;
const RETRY_MS = [0, 500, 1500, 3000, 5000, 10_000];

/** Resolves to the id of the upload. `onSent` gets the number of bytes that the server has. */
export async function upload(
  file: File,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<string> {
  // Loaded with the first file: most visits bring none.
  const { Upload, DetailedError } = await import("tus-js-client");
  return new Promise((resolve, reject) => {
    const sending = new Upload(file, {
      endpoint: "/uploads",
      headers: OWN_PAGE,
      chunkSize: PIECE,
      retryDelays: RETRY_MS,
      metadata: { filename: file.name },
      // A file of the same name and size may be another one: each import sends its own bytes.
      storeFingerprintForResuming: false,
      onProgress: onSent,
      onSuccess: () => resolve(sending.url?.split("/").at(-1) ?? ""),
      onError: (thrown) => reject(thrown instanceof DetailedError ? refusal(thrown) : thrown),
    });
    signal.addEventListener("abort", () => {
      // What was sent is removed on the server, too.
      void sending.abort(true).catch(() => undefined);
      reject(new DOMException("The upload was cancelled.", "AbortError"));
    });
    sending.start();
  });
}

function refusal(thrown: { originalResponse: { getBody(): string; getStatus(): number } | null }): Problem {
  const answer = thrown.originalResponse;
  try {
    const body = JSON.parse(answer?.getBody() ?? "") as { error?: unknown };
    if (isProblemBody(body.error)) return new Problem(body.error, answer?.getStatus());
  } catch {
    // No JSON: the server did not answer, or something between did.
  }
  return new Problem({
    code: "NETWORK",
    message: "The file could not be sent: the connection broke off.",
    suggestion: "Check that the server is running, then drop the file again.",
  });
}
