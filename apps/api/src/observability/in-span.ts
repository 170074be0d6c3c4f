import { DomainError } from '@animal-store/kernel';
import { context, type Span, type SpanOptions, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';

/** Does the work as a child of the span that is active, and returns exactly what the work returns. */
export function inSpan<Result>(tracer: Tracer, name: string, options: SpanOptions, work: () => Result): Result {
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

/** Only what kind of error it was: messages may repeat what a client sent. */
function endWithError(span: Span, error: unknown): void {
  span.setAttribute('error.type', errorType(error));
  // What a client does wrong is no fault of the use case.
  if (!(error instanceof DomainError)) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function errorType(error: unknown): string {
  if (!Error.isError(error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.constructor.name;
}
