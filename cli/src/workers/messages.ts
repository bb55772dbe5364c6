import type { Family } from '@stowage/core';

/** What the primary process tells a worker. */
export type ToWorker =
	/** A connection, which is sent with it. */
	{ type: 'connection'; id: number } | { type: 'ping' } | { type: 'reload' } | { type: 'readMetrics'; id: number };

/** What a worker tells the primary process. */
export type FromWorker =
	/** It serves. */
	| { type: 'ready' }
	/** It has got the connection with this id. */
	| { type: 'accepted'; id: number }
	/** It wants no further connection. */
	| { type: 'closing' }
	/** The answer to a ping: its event loop runs; `isAlive` is whether its database answers. */
	| { type: 'pong'; isAlive: boolean }
	/** What the reading of the configuration adds to the status line; empty after no mistake. */
	| { type: 'reloaded'; outcome: string }
	/** `id` is that of the request, or undefined for the last reading of a worker that stops. */
	| { type: 'metrics'; id: number | undefined; families: Family[] };
