Object.defineProperty(exports, Symbol.toStringTag, { value: "Module" });
// libs/client/dist/openapi.generated.js
/** Names of the members and parameters that are int64. */
const INT64_MEMBERS = /* @__PURE__ */ new Set([
	"categoryId",
	"id",
	"petId"
]);
// libs/client/dist/exact-json.js
/** Matches strings and numbers, with a colon that follows. A string that is not closed ends with the text, so no match begins inside a string. */
const STRING_OR_NUMBER = /(?:("(?:[^"\\]|\\.)*(?:"|\\?$))|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(\s*:)?/gs;
const INTEGER = /^-?\d+$/;
/**
* Parses JSON, with int64 members as bigints. `JSON.parse` rounds integers above 2^53. In Node.js 20 and some browsers, its reviver
* cannot access the source text. So numbers are parsed as strings with the prefix `n`, and strings get the prefix `s`.
*/
function parseJson(text) {
	const prefixed = text.replace(STRING_OR_NUMBER, (token, string, colon) => {
		if (colon !== void 0) return token;
		return string === void 0 ? `"n${token}"` : `"s${string.slice(1)}`;
	});
	return JSON.parse(prefixed, (name, value) => {
		if (typeof value !== "string") return value;
		const source = value.slice(1);
		if (value.startsWith("s")) return source;
		return INT64_MEMBERS.has(name) && INTEGER.test(source) ? BigInt(source) : Number(source);
	});
}
/** Returns a value as JSON, with bigints as numbers. */
function stringifyJson(value) {
	if (typeof value === "bigint") return String(value);
	if (typeof value !== "object" || value === null) return JSON.stringify(value);
	if (Array.isArray(value)) return `[${value.map((item) => stringifyJson(item ?? null)).join()}]`;
	return `{${definedEntries(value).map(([name, member]) => `${JSON.stringify(name)}:${stringifyJson(member)}`).join()}}`;
}
/** Returns the members that are not undefined. Throws if an int64 member has the type `number`, because its value may be rounded already. */
function definedEntries(value) {
	const entries = Object.entries(value).filter(([, member]) => member !== void 0);
	for (const [name, member] of entries) if (INT64_MEMBERS.has(name)) assertNotNumber(name, member);
	return entries;
}
function isInt64(value) {
	return typeof value === "bigint" && BigInt.asIntN(64, value) === value;
}
function assertNotNumber(name, value) {
	if (typeof value === "number") throw new TypeError(`${name} must be a bigint such as 7n, because a number is not exact above 2^53`);
}
// libs/client/dist/api-promise.js
var _a;
/** A promise of a result, with access to the HTTP response. The request starts immediately, not when the promise is awaited. */
var APIPromise = class {
	static {
		_a = Symbol.toStringTag;
	}
	constructor(completed, resultOf) {
		this.completed = completed;
		this.resultOf = resultOf;
		this[_a] = "APIPromise";
	}
	/** Resolves to the HTTP response with an unread body. Rejects for an error response, like the promise itself. */
	async asResponse() {
		return toUnreadResponse(await this.completed);
	}
	/** Resolves to the result and the HTTP response. */
	async withResponse() {
		const completed = await this.completed;
		const response = toUnreadResponse(completed);
		return {
			data: this.resultOf(completed),
			response,
			requestId: response.headers.get("X-Request-Id") ?? void 0
		};
	}
	then(onFulfilled, onRejected) {
		return this.completed.then(this.resultOf).then(onFulfilled, onRejected);
	}
	catch(onRejected) {
		return this.then(void 0, onRejected);
	}
	finally(onFinally) {
		return this.completed.then(this.resultOf).finally(onFinally);
	}
};
/** Returns a copy with an unread body. The transport has read the original, because it retries incomplete responses. */
function toUnreadResponse({ response, text }) {
	const { status, statusText, headers, url } = response;
	const copy = new Response(text === "" ? null : text, {
		status,
		statusText,
		headers
	});
	return Object.defineProperty(copy, "url", { value: url });
}
// libs/client/dist/retry.js
/** After a response with a longer `Retry-After`, the client does not retry. */
const MAX_RETRY_AFTER_MS = 6e4;
/**
* Returns the delay in milliseconds after a failed attempt, or undefined if there is no retry. The number of the first attempt is 1.
* Without `Retry-After`: exponential backoff with full jitter. With it: `Retry-After`, plus a random delay of up to `minRetryDelay`.
*/
function retryDelay(attempt, { minRetryDelay, maxRetryDelay }, retryAfter) {
	if (retryAfter === void 0) return Math.random() * Math.min(maxRetryDelay, minRetryDelay * 2 ** (attempt - 1));
	return retryAfter > MAX_RETRY_AFTER_MS ? void 0 : retryAfter + Math.random() * minRetryDelay;
}
/** Parses seconds or a date to milliseconds. A date is compared with the `Date` of the response, because clocks may differ. */
function parseRetryAfter(value, date) {
	if (!value) return void 0;
	if (/^\d+$/.test(value)) return Number(value) * 1e3;
	const now = Date.parse(date ?? "");
	const ms = /^\D|^\d{4}-/.test(value) && /\b\d{4}\b/.test(value) ? Date.parse(value) - (Number.isNaN(now) ? Date.now() : now) : NaN;
	return Number.isNaN(ms) ? void 0 : Math.max(0, ms);
}
/** Resolves after the time, or as soon as the signal aborts. */
function sleep(ms, signal) {
	return new Promise((resolve) => {
		const end = () => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		signal?.addEventListener("abort", end);
		if (signal?.aborted) end();
	});
}
// libs/client/dist/errors.js
/** Base class of the errors of this package. Arguments of a wrong type or format throw a TypeError instead. */
var AnimalStoreError = class extends Error {
	constructor() {
		super(...arguments);
		this.name = this.constructor.className;
	}
	/** Does not change if a bundler renames the class. */
	static {
		this.className = "AnimalStoreError";
	}
};
/** Thrown if a request gets an error response, gets no complete response, or is aborted. */
var APIError = class extends AnimalStoreError {
	static {
		this.className = "APIError";
	}
	constructor(message, { cause, response, code } = {}) {
		super(message, cause === void 0 ? void 0 : { cause });
		this.status = response?.status;
		this.headers = response?.headers;
		this.requestId = response?.headers.get("X-Request-Id") ?? void 0;
		this.code = code;
	}
	/**
	* Whether the same request may succeed later. The client retries such a request up to `maxRetries` times before it throws, but a POST
	* only with `Idempotency-Key` and a PATCH only with `If-Match`.
	*/
	get retryable() {
		return this.status !== void 0 && RETRYABLE_STATUSES.has(this.status);
	}
	/** Milliseconds to wait before the next attempt, from `Retry-After`. Undefined without that header. */
	get retryAfter() {
		return parseRetryAfter(this.headers?.get("Retry-After"), this.headers?.get("Date"));
	}
};
const RETRYABLE_STATUSES = /* @__PURE__ */ new Set([
	408,
	429,
	500,
	502,
	503,
	504
]);
/** The connection failed, or the response was incomplete, or a successful response is not one that the operation can have. */
var APIConnectionError = class extends APIError {
	static {
		this.className = "APIConnectionError";
	}
	get retryable() {
		return true;
	}
};
/** There was no complete response within `timeout`, or within the rest of `totalTimeout`. */
var APIConnectionTimeoutError = class extends APIConnectionError {
	static {
		this.className = "APIConnectionTimeoutError";
	}
};
/** Returns a subclass. Bundlers keep classes with static members unless a function makes them. */
function named(className) {
	return class extends APIError {
		static {
			this.className = className;
		}
	};
}
/** The caller's AbortSignal ended the request. */
const APIUserAbortError = /* @__PURE__ */ named("APIUserAbortError");
/** Status 400. */
const BadRequestError = /* @__PURE__ */ named("BadRequestError");
/** Status 401: the API key is missing or invalid. */
const AuthenticationError = /* @__PURE__ */ named("AuthenticationError");
/** Status 403: the API key lacks a scope. */
const PermissionDeniedError = /* @__PURE__ */ named("PermissionDeniedError");
/** Status 404. */
const NotFoundError = /* @__PURE__ */ named("NotFoundError");
/** Status 409: the request conflicts with the state of the resource. */
const ConflictError = /* @__PURE__ */ named("ConflictError");
/** Status 412: the resource has changed since its `ETag` was read. */
const PreconditionFailedError = /* @__PURE__ */ named("PreconditionFailedError");
/** Status 422, for example if the idempotency key was used with a different pet. */
const UnprocessableEntityError = /* @__PURE__ */ named("UnprocessableEntityError");
/** Status 428: the operation requires `If-Match`. */
const PreconditionRequiredError = /* @__PURE__ */ named("PreconditionRequiredError");
/** Status 429. */
const RateLimitError = /* @__PURE__ */ named("RateLimitError");
/** Status 500 or above. */
const InternalServerError = /* @__PURE__ */ named("InternalServerError");
const ERROR_CLASSES = {
	400: BadRequestError,
	401: AuthenticationError,
	403: PermissionDeniedError,
	404: NotFoundError,
	409: ConflictError,
	412: PreconditionFailedError,
	422: UnprocessableEntityError,
	428: PreconditionRequiredError,
	429: RateLimitError
};
/** Returns the error for a response. The body may be anything, because a proxy may have sent it. */
function errorOf(response, text) {
	const { status } = response;
	const { code, message } = errorBody(text);
	return new (ERROR_CLASSES[status] ?? (status >= 500 ? InternalServerError : APIError))([status, code === void 0 ? response.statusText : `${code}: ${message ?? ""}`].join(" ").trim(), {
		response,
		code
	});
}
function errorBody(text) {
	try {
		const body = JSON.parse(text);
		if (typeof body?.code === "string" && typeof body.message === "string") return {
			code: body.code,
			message: body.message
		};
	} catch {}
	return {};
}
// libs/client/dist/headers.js
/** A link: its target in angle brackets, then its parameters with values that may be quoted strings. */
const LINK = /<([^<>]*)>((?:[^<",]|"(?:[^"\\]|\\.)*"?)*)/g;
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;,"]*))/g;
const WARNED = Symbol.for("@animal-store/client.warned");
/** Returns the target of the first link with this relation type in a `Link` header (RFC 8288). */
function findLink(header, relation) {
	for (const [, target, parameters = ""] of header.matchAll(LINK)) {
		const types = [...parameters.matchAll(PARAMETER)].find(([, name]) => name?.toLowerCase() === "rel");
		if ((types?.[2] ?? types?.[3] ?? "").toLowerCase().split(/\s+/).includes(relation)) return target;
	}
}
/** Logs one warning per process and operation if the response headers mark the operation as deprecated (RFC 9745, RFC 8594). */
function warnIfDeprecated(operation, headers, warn) {
	const [, seconds] = /^@(\d+)$/.exec(headers.get("Deprecation") ?? "") ?? [];
	const since = formatDate(Number(seconds) * 1e3);
	if (since === void 0) return;
	const warned = globalThis[WARNED] ??= /* @__PURE__ */ new Set();
	if (warned.has(operation)) return;
	warned.add(operation);
	const sunset = formatDate(Date.parse(headers.get("Sunset") ?? ""));
	const successor = findLink(headers.get("Link") ?? "", "successor-version");
	warn([
		`Animal Store: ${operation} has been deprecated since ${since}.`,
		sunset && `It will be removed on ${sunset}.`,
		successor && `Use ${successor} instead.`
	].filter(Boolean).join(" "));
}
/** Returns undefined if the time is not a date. */
function formatDate(time) {
	const date = new Date(time);
	return Number.isNaN(date.getTime()) ? void 0 : date.toISOString().slice(0, 10);
}
/** Returns undefined for text that is not a URL. `URL.canParse` is missing in browsers of 2023. */
function parseUrl(text, base) {
	try {
		return new URL(text, base);
	} catch {
		return;
	}
}
// libs/client/dist/page.js
/** A page of a list. Iteration visits its items and those of all following pages. */
var Page = class {
	constructor(data, requestNext) {
		this.data = data;
		this.requestNext = requestNext;
	}
	hasNextPage() {
		return this.requestNext !== void 0;
	}
	/** Requests the next page. Throws if this is the last page. */
	getNextPage() {
		if (!this.requestNext) throw new AnimalStoreError("This is the last page: check hasNextPage() first");
		return this.requestNext();
	}
	/** Iterates over this page and all following pages. */
	iterPages() {
		return pagesFrom(this);
	}
	async *[Symbol.asyncIterator]() {
		for await (const page of this.iterPages()) yield* page.data;
	}
};
async function* pagesFrom(first) {
	let page = first;
	yield page;
	while (page.hasNextPage()) {
		page = await page.getNextPage();
		yield page;
	}
}
/** A promise of a page. Iteration visits its items and those of all following pages. */
var PagePromise = class extends APIPromise {
	constructor(completed, requestNext) {
		super(completed, ({ body, link }) => {
			const query = nextQuery(link);
			return new Page(body, query && (() => requestNext(Object.fromEntries(query))));
		});
	}
	async *[Symbol.asyncIterator]() {
		yield* await this;
	}
};
/**
* Returns the query of the link to the next page (RFC 8288). The rest of the URL is ignored: the client sends the API key only to
* `baseURL`, and behind a proxy the service may not know that URL.
*/
function nextQuery(link = "") {
	const target = findLink(link, "next");
	if (target === void 0) return void 0;
	const url = parseUrl(target, "http://localhost");
	if (!url) throw new APIConnectionError("The link to the next page is not a URL");
	return url.searchParams;
}
// libs/client/dist/transport.js
/** Maximum delay of a timer. A timer with a longer delay would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const VISIBLE_ASCII = /^[!-~]{1,255}$/;
const ENTITY_TAG = /^(?:W\/)?"[!#-~]*"$/;
/** `text/plain` is the type of a `new Response(text)`, such as that of a fake. */
const JSON_TYPE = /^(?:application\/(?:[\w.+-]*\+)?json|text\/plain) *(?:;|$)/i;
const DEFAULTS = {
	timeout: 3e4,
	totalTimeout: Infinity,
	maxRetries: 2,
	minRetryDelay: 500,
	maxRetryDelay: 8e3
};
/** Sends requests and retries them. */
var Transport = class {
	constructor(options) {
		if (!options.apiKey) throw new AnimalStoreError("apiKey is required");
		if (!options.baseURL) throw new AnimalStoreError("baseURL is required");
		const apiKey = options.apiKey.trim();
		if (!/^[!-~]+$/.test(apiKey)) throw new TypeError("apiKey must be visible ASCII characters");
		this.options = {
			...withDefaults(options, DEFAULTS),
			apiKey
		};
		this.prefix = `${parseBaseUrl(options.baseURL)}/v1`;
	}
	async send(request, requestOptions = {}) {
		const { operation, method, body, idempotencyKey } = request;
		const { apiKey, cache, hooks } = this.options;
		const { maxRetries, totalTimeout, timeout, signal } = withDefaults(requestOptions, this.options);
		const url = this.prefix + targetOf(request);
		const text = body && stringifyJson(body);
		const cached = method === "GET" ? usable(await cache?.get(url), request) : void 0;
		const headers = new Headers({
			...this.options.headers,
			...requestOptions.headers
		});
		headers.set("Authorization", `Bearer ${apiKey}`);
		if (text !== void 0) headers.set("Content-Type", method === "PATCH" ? "application/merge-patch+json" : "application/json");
		if (idempotencyKey !== void 0) headers.set("Idempotency-Key", quoted(idempotencyKey));
		if (cached) headers.set("If-None-Match", cached.etag);
		const retries = isIdempotent(method, headers) ? maxRetries : 0;
		const deadline = performance.now() + totalTimeout;
		for (let attempt = 1;; attempt++) {
			if (signal?.aborted) throw aborted(signal);
			const current = {
				operation,
				method,
				url,
				headers: new Headers(headers),
				attempt
			};
			await hooks?.onRequest?.(current);
			const timeLeft = deadline - performance.now();
			let error;
			try {
				const completed = await this.sendAttempt(current, text, Math.min(timeout, timeLeft, MAX_TIMER_MS), signal, cached);
				const reason = request.reject?.(completed.body);
				if (reason !== void 0) throw new APIConnectionError(`The response ${reason}`);
				if (cache && method === "GET") await store(cache, url, completed);
				return completed;
			} catch (thrown) {
				if (!(thrown instanceof APIError)) throw thrown;
				error = thrown;
			}
			const isOver = error instanceof APIConnectionTimeoutError && timeLeft <= timeout;
			const delay = error.retryable && !isOver && attempt <= retries ? retryDelay(attempt, this.options, error.retryAfter) : void 0;
			const retryInMs = delay !== void 0 && performance.now() + delay < deadline ? delay : void 0;
			hooks?.onError?.(current, error, retryInMs);
			if (retryInMs === void 0) throw error;
			await sleep(retryInMs, signal);
		}
	}
	/** Sends one attempt. Resolves after the complete response. */
	async sendAttempt(request, requestBody, timeoutMs, signal, cached) {
		const { operation, url, method, headers } = request;
		const { fetch = globalThis.fetch, hooks, logger = console } = this.options;
		const startedAt = performance.now();
		let response;
		let text;
		const controller = new AbortController();
		const abort = () => controller.abort();
		const abortion = new Promise((_resolve, reject) => {
			controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
		});
		abortion.catch(() => void 0);
		const timer = setTimeout(abort, timeoutMs);
		signal?.addEventListener("abort", abort);
		if (signal?.aborted) abort();
		try {
			const init = {
				method,
				headers,
				body: requestBody ?? null,
				signal: controller.signal,
				redirect: "manual"
			};
			response = await Promise.race([fetch(url, init), abortion]);
			text = await Promise.race([response.text(), abortion]);
		} catch (cause) {
			if (signal?.aborted) throw aborted(signal);
			if (controller.signal.aborted) throw new APIConnectionTimeoutError(`No response within ${Math.round(timeoutMs)} ms`, { cause });
			throw new APIConnectionError("The connection failed before the response was complete", { cause });
		} finally {
			clearTimeout(timer);
			signal?.removeEventListener("abort", abort);
		}
		const requestId = response.headers.get("X-Request-Id") ?? void 0;
		hooks?.onResponse?.(request, {
			status: response.status,
			headers: response.headers,
			requestId,
			durationMs: performance.now() - startedAt
		});
		warnIfDeprecated(operation, response.headers, (message) => logger.warn(message));
		rejectRedirect(response, url);
		const reused = response.status === 304 ? cached : void 0;
		if (!response.ok && !reused) throw errorOf(response, text);
		const type = response.headers.get("Content-Type");
		if (text !== "" && type !== null && !JSON_TYPE.test(type)) throw new APIConnectionError("The response is not of the type application/json");
		try {
			const body = response.status === 204 ? void 0 : parseJson(reused?.body ?? text);
			return {
				response,
				text,
				body,
				link: reused?.link ?? response.headers.get("Link") ?? void 0
			};
		} catch (cause) {
			throw new APIConnectionError("The response is not valid JSON", { cause });
		}
	}
};
/** Throws for a redirect, and for the response to a redirect that a custom `fetch` followed. */
function rejectRedirect(response, url) {
	const { status, redirected, headers } = response;
	const isHidden = response.type === "opaqueredirect";
	const target = redirected ? response.url : status >= 300 && status < 400 && status !== 304 ? headers.get("Location") : null;
	if (target === null && !isHidden) return;
	const origin = target === null ? void 0 : parseUrl(target, url)?.origin;
	throw new APIError(`The service redirects${origin === void 0 ? "" : ` to ${origin}`}: the client does not follow redirects, so baseURL must be the final URL`, isHidden ? {} : { response });
}
/** Returns the cached response unless it is damaged: revalidating it would fail again and again. */
function usable(cached, { reject }) {
	try {
		return cached && ENTITY_TAG.test(cached.etag) && reject?.(parseJson(cached.body)) === void 0 ? cached : void 0;
	} catch {
		return;
	}
}
/** Returns the URL without slashes at the end. */
function parseBaseUrl(text) {
	const { href = "" } = parseUrl(text) ?? {};
	if (!/^https?:\/\/[^?#@]*$/.test(href)) throw new TypeError("baseURL must be an http(s) URL without user name, query or fragment");
	return href.replace(/\/+$/, "");
}
async function store(cache, url, { response, text, link }) {
	const etag = response.headers.get("ETag");
	if (response.status === 200 && etag !== null && ENTITY_TAG.test(etag)) await cache.set(url, {
		etag,
		body: text,
		link
	});
}
function aborted({ reason }) {
	return new APIUserAbortError("The request was aborted", { cause: reason });
}
/** Returns whether a request that succeeded has no second effect if it is repeated. */
function isIdempotent(method, headers) {
	if (method === "POST") return headers.has("Idempotency-Key");
	return method !== "PATCH" || headers.has("If-Match");
}
function targetOf({ path, id, subpath, query = {} }) {
	if (id !== void 0) assertNotNumber("id", id);
	const entries = definedEntries(query).map(([name, value]) => [name, String(value)]);
	const search = entries.length === 0 ? "" : `?${String(new URLSearchParams(entries))}`;
	return path + (id === void 0 ? "" : `/${encodeURIComponent(id.toString())}`) + (subpath === void 0 ? "" : `/${subpath}`) + search;
}
/** Returns the key as a String of RFC 9651. */
function quoted(idempotencyKey) {
	if (!VISIBLE_ASCII.test(idempotencyKey)) throw new TypeError("idempotencyKey must be 1 to 255 visible ASCII characters");
	return `"${idempotencyKey.replace(/["\\]/g, "\\$&")}"`;
}
/** Returns the values, with defaults for those that are undefined. */
function withDefaults(values, defaults) {
	const given = Object.entries(values).filter(([, value]) => value !== void 0);
	return {
		...defaults,
		...Object.fromEntries(given)
	};
}
// libs/client/dist/resource.js
/** Requests a page of a list. Its next pages are requested with the same options. */
function listPage(transport, target, query, options) {
	return new PagePromise(transport.send({
		...target,
		method: "GET",
		query
	}, options), (next) => listPage(transport, target, next, options));
}
/** Creates a resource. All attempts have the same idempotency key, so retries never create a second one. */
function create(transport, target, body, options) {
	return post(transport, target, body, options);
}
function post(transport, target, body, options) {
	const { idempotencyKey = randomKey(), ...requestOptions } = options;
	return new APIPromise(transport.send({
		...target,
		method: "POST",
		body,
		idempotencyKey
	}, requestOptions), (completed) => completed.body);
}
/** Requests the resource with this id. */
function retrieve(transport, target, id, options) {
	return new APIPromise(transport.send({
		...target,
		method: "GET",
		id
	}, options), ({ body }) => body);
}
/** Returns 128 random bits as hexadecimal digits. `crypto.randomUUID` does not exist in browsers unless the page is served over HTTPS. */
function randomKey() {
	return Array.from(crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
// libs/client/dist/pets.js
/** Returns whether the value is a pet, possibly with a status or members of a later version of the service. */
function isPet(value) {
	const { id, name, categoryId, status } = value ?? {};
	return isInt64(id) && typeof name === "string" && isInt64(categoryId) && typeof status === "string";
}
const rejectNonPet = (body) => isPet(body) ? void 0 : "is not a pet";
const rejectNonPets = (body) => Array.isArray(body) && body.every(isPet) ? void 0 : "is not a list of pets";
var Pets = class {
	constructor(transport) {
		this.transport = transport;
	}
	/** Lists pets in ascending order of their ids. Await it for the first page, or iterate over all pages. */
	list(params = {}, options) {
		return listPage(this.transport, {
			operation: "listPets",
			path: "/pets",
			reject: rejectNonPets
		}, params, options);
	}
	/** Adds a pet. All attempts have the same idempotency key, so retries never add a second pet. */
	create(pet, options = {}) {
		return create(this.transport, {
			operation: "createPet",
			path: "/pets",
			reject: rejectNonPet
		}, pet, options);
	}
	/**
	* Returns the pet with this id.
	* @deprecated The service removes this operation on 5 December 2030. Use `list({ id })`.
	*/
	retrieve(id, options) {
		return retrieve(this.transport, {
			operation: "getPet",
			path: "/pets",
			reject: rejectNonPet
		}, id, options);
	}
};
// libs/client/dist/animal-store.js
/** Client of the Animal Store API. */
var AnimalStore = class {
	constructor(options) {
		const transport = new Transport(options);
		this.pets = new Pets(transport);
	}
};
// libs/client/dist/memory-cache.js
/** Keeps the most recently used responses in memory, at most 100 by default. */
var MemoryCache = class {
	constructor(maxEntries = 100) {
		this.maxEntries = maxEntries;
		this.entries = /* @__PURE__ */ new Map();
	}
	get(url) {
		const cached = this.entries.get(url);
		if (cached) this.set(url, cached);
		return cached;
	}
	set(url, response) {
		this.entries.delete(url);
		this.entries.set(url, response);
		const [oldest] = this.entries.keys();
		if (this.entries.size > this.maxEntries && oldest !== void 0) this.entries.delete(oldest);
	}
};
exports.APIConnectionError = APIConnectionError;
exports.APIConnectionTimeoutError = APIConnectionTimeoutError;
exports.APIError = APIError;
exports.APIPromise = APIPromise;
exports.APIUserAbortError = APIUserAbortError;
exports.AnimalStore = AnimalStore;
exports.AnimalStoreError = AnimalStoreError;
exports.AuthenticationError = AuthenticationError;
exports.BadRequestError = BadRequestError;
exports.ConflictError = ConflictError;
exports.InternalServerError = InternalServerError;
exports.MemoryCache = MemoryCache;
exports.NotFoundError = NotFoundError;
exports.Page = Page;
exports.PagePromise = PagePromise;
exports.PermissionDeniedError = PermissionDeniedError;
exports.PreconditionFailedError = PreconditionFailedError;
exports.PreconditionRequiredError = PreconditionRequiredError;
exports.RateLimitError = RateLimitError;
exports.UnprocessableEntityError = UnprocessableEntityError;
