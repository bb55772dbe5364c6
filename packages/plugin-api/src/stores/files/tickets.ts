/** A download ticket. Its texts are the core's; times are milliseconds since the epoch. */
export interface TicketRecord {
	/** The client that its bytes are counted for. */
	holder: string;
	/** JSON: its owner, and the name and size of its download. */
	details: string;
	/** The chosen items, packed. */
	selection: string;
	/** The bytes it counts; 0 once it is emptied. */
	bytes: number;
	isEnded: boolean;
	/** Until when it is valid; 0 once it is emptied. Its row is kept until `expiresAt`. */
	endsAt: number;
	expiresAt: number;
}

/** Tickets by the hash of their token: the token itself is never stored. */
export interface TicketStore {
	add(tokenHash: string, ticket: TicketRecord): Promise<void>;
	/** Finds a ticket, also one that has ended, while its row is kept. */
	find(tokenHash: string): Promise<TicketRecord | undefined>;
	/** Those of these tickets that were ended before their time. */
	findEnded(tokenHashes: readonly string[]): Promise<Set<string>>;
	/** Replaces the details of a ticket that has not ended. */
	setDetails(tokenHash: string, details: string): Promise<void>;
	/** Empties these. Their rows are kept until they expire, unless their holders end a thousand more of them. */
	end(tokenHashes: readonly string[]): Promise<void>;
	/** The counted bytes of the tickets of all holders that begin with this ASCII text. */
	countBytes(holders?: string): Promise<number>;
	/** The same by holder, without those that have none. */
	bytesOf(holders: string): Promise<{ holder: string; bytes: number }[]>;
	/** Some of the tickets with bytes of all holders that begin with this, those that are valid for the shortest time first. */
	oldest(holders: string): Promise<{ tokenHash: string; bytes: number }[]>;
	/**
	 * Empties those that are no longer valid, and removes the expired ones, and the oldest of more emptied ones than are kept of all holders;
	 * resolves to how many.
	 */
	sweep(): Promise<number>;
}
