import type { Request } from '@hapi/hapi';

/** Reads the JSON of requests in a bounded time and memory, which all requests share. */
export interface JsonBodies {
	/**
	 * Reads the JSON of a request whose body nobody has read, and holds the memory for it until `release`. Throws `unsupportedMediaType` unless it is declared as
	 * plain `application/json`, `tooLarge` over `maxBytes`, `timeout` when it comes too slowly, `invalid` for what is no JSON, and `rateLimited` or `unavailable`
	 * while too much is under way from this address or in all.
	 */
	readJson(request: Request, maxBytes: number): Promise<unknown>;
	/** Gives back the memory that is held for a request. `route` does so when it was answered; whoever needs the payload no longer may do so earlier. */
	release(request: Request): void;
}
