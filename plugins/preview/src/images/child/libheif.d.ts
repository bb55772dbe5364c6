declare module 'libheif-js/wasm-bundle.js' {
	export interface HeifImage {
		get_width(): number;
		get_height(): number;
		is_primary(): boolean;
		display(
			target: { data: Uint8ClampedArray<ArrayBuffer>; width: number; height: number },
			done: (shown: { data: Uint8ClampedArray<ArrayBuffer> } | null) => void,
		): void;
		free(): void;
	}

	/** What the library keeps of a file. */
	export type Context = object;

	export interface HeifDecoder {
		/** The context of the last file. */
		decoder: Context | null;
		decode(bytes: Uint8Array): HeifImage[];
	}

	const library: {
		HeifDecoder: new () => HeifDecoder;
		heif_context_free(context: Context): void;
	};
	export default library;
}
