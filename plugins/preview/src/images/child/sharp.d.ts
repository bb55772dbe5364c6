/** The part of sharp's types that is used, so that types can be checked where this optional package has no build. */
declare module 'sharp' {
	interface Input {
		limitInputPixels?: number;
		failOn?: 'none' | 'truncated' | 'error' | 'warning';
		/** Whether its colours are left as they are, whatever its profile says. */
		ignoreIcc?: boolean;
		raw?: { width: number; height: number; channels: 1 | 2 | 3 | 4 };
	}

	export interface Sharp {
		/** Reads its header only. */
		metadata(): Promise<{ icc?: Buffer }>;
		/** Rotates and flips it by its EXIF orientation. */
		autoOrient(): Sharp;
		resize(options: { width: number; height: number; fit: 'inside'; withoutEnlargement: boolean }): Sharp;
		webp(options: { quality: number; effort: number }): Sharp;
		toBuffer(): Promise<Buffer>;
	}

	interface Operations {
		operation: string[];
	}

	const sharp: {
		(input: Uint8Array | Uint8ClampedArray, options?: Input): Sharp;
		block(operations: Operations): void;
		unblock(operations: Operations): void;
		cache(isOn: boolean): void;
		concurrency(threads: number): void;
	};
	export default sharp;
}
