/** A download ticket. Its texts are the core's; times are milliseconds since the epoch. */
export interface TicketRecord {
	/** Whom its bytes are counted for. */
	holder: string;
	/** JSON: its owner, and the name and size of its download. */
	details: string;
	/** The chosen items, packed. */
	selection: string;
	/** The bytes it counts; 0 once it is emptied. */
	bytes: number;
	isEnded: boolean;
	/** It is good until then, and known until it expires. */
	endsAt: number;
	expiresAt: number;
}

/** Tickets by the hash of their token: the token itself is never stored. */
export interface TicketStore {
	add(tokenHash: string, ticket: TicketRecord): Promise<void>;
	/** Also one that has ended, as long as it is known. */
	find(tokenHash: string): Promise<TicketRecord | undefined>;
	/** Whether it was ended before its time. */
	isEnded(tokenHash: string): Promise<boolean>;
	/** Replaces the details of one that has not been ended. */
	change(tokenHash: string, details: string): Promise<void>;
	/** Empties it. That it was there is known until it expires. */
	end(tokenHash: string): Promise<void>;
	/** Bytes that the tickets of one holder, or of all, count for. */
	bytes(holder?: string): Promise<number>;
	/** Empties those past their time, and forgets the expired ones; resolves to how many. */
	sweep(): Promise<number>;
}
