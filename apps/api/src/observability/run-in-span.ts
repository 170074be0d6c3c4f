import { DomainError } from '@animal-store/kernel';
import { context, type Span, type SpanOptions, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';

/** Runs the work in a child of the active span, and returns its result unchanged. */
export function runInSpan<Result>(tracer: Tracer, name: string, options: SpanOptions, work: () => Result): Result {
  const span = tracer.startSpan(name, options);
  let result: Result;
  try {
    result = context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    endWithError(span, error);
    throw error;
  }
  if (result instanceof Promise) {
    result.then(
      () => span.end(),
      (error: unknown) => endWithError(span, error),
    );
  } else {
    span.end();
  }
  return result;
}

/** Ends the span with the type of the error, without its message, which may contain input of a client. */
function endWithError(span: Span, error: unknown): void {
  span.setAttribute('error.type', errorType(error));
  // Errors of clients do not make the span an error.
  if (!(Error.isError(error) && error instanceof DomainError)) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function errorType(error: unknown): string {
  if (!Error.isError(error)) return typeof error;
  const { code, constructor } = error as { code?: unknown; constructor?: unknown };
  if (typeof code === 'string') return code;
  return typeof constructor === 'function' ? constructor.name : 'Error';
}
