/** A storage root that belongs to this database. */
export interface RootRecord {
	/** The name the administrator gave it. */
	name: string;
	/** The id that is stored in the root itself. */
	rootId: string;
	/** Which storage opens it. */
	driver: string;
	/** Its location in the form of its storage; null for the configured one. */
	location: string | null;
	/** Whether it is the default root. */
	isDefault: boolean;
	createdAt: number;
}

export interface RootStore {
	/** The oldest first. */
	list(): Promise<RootRecord[]>;
	/** Throws `alreadyExists` for a taken name. */
	add(root: Pick<RootRecord, 'name' | 'rootId' | 'driver' | 'location'>): Promise<void>;
	/** Throws `notFound`, and `alreadyExists` for a taken name. */
	rename(name: string, newName: string): Promise<void>;
	/** Changes the location of the root with this id. Throws `notFound`, also for the root at the configured location. */
	relocate(rootId: string, location: string): Promise<void>;
	/** Makes it the only default root. Throws `notFound`. */
	setDefault(name: string): Promise<void>;
	/** Throws `notFound`, and `conflict` while homes are assigned to it. */
	remove(name: string): Promise<void>;
}
