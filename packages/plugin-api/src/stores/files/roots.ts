/** A storage root that belongs to this database. */
export interface RootRecord {
	/** The name the administrator gave it. */
	name: string;
	/** The id that is stored in the root itself. */
	rootId: string;
	/** Which storage opens it. */
	driver: string;
	/** Where it lies, in words of its storage; null for the place that is configured. */
	location: string | null;
	/** Whether it was made the default one. */
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
	/** Changes where the root of this id lies. Throws `notFound`, also for one that lies in the place that is configured. */
	relocate(rootId: string, location: string): Promise<void>;
	/** Makes it the only default one. Throws `notFound`. */
	setDefault(name: string): Promise<void>;
	/** Throws `notFound`, and `conflict` as long as homes are known to lie there. */
	remove(name: string): Promise<void>;
}
