import type { Family, SiblingMessage } from '@stowage/core';

/** What the primary process tells a worker. */
export type ToWorker =
	/** A connection, which is sent with it. */
	| { type: 'connection'; id: number }
	/** The last connection was sent, to a worker that wants no further one. */
	| { type: 'closed' }
	| { type: 'ping' }
	| { type: 'reload' }
	| { type: 'readMetrics'; id: number }
	/** The names of the other workers that serve, and whether this one does what one of them is enough for. */
	| { type: 'siblings'; names: string[]; isLeader: boolean }
	/** What another worker has sent. */
	| { type: 'told'; messages: readonly SiblingMessage[] };

/** What a worker tells the primary process. */
export type FromWorker =
	/** The worker's name, by which others know it in the database; sent before it serves. */
	| { type: 'named'; name: string }
	/** Messages for all other workers, or for the one named `to`. */
	| { type: 'tell'; messages: readonly SiblingMessage[]; to: string | undefined }
	/** Its start waits for this. */
	| { type: 'waiting'; reason: string }
	/** It serves, and logs from this level on, as the configuration says. */
	| { type: 'ready'; logLevel: string }
	/** It has got the connection with this id. */
	| { type: 'accepted'; id: number }
	/** It wants no further connection. */
	| { type: 'closing' }
	/** The answer to a ping: its event loop runs; `isAlive` is whether its database answers. */
	| { type: 'pong'; isAlive: boolean }
	/** What the reading of the configuration adds to the status line; empty after no mistake. */
	| { type: 'reloaded'; outcome: string; logLevel: string }
	/** `id` is that of the request, or undefined for the last reading of a worker that stops. */
	| { type: 'metrics'; id: number | undefined; families: Family[] };
