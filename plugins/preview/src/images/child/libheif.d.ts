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

	const library: {
		HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] };
	};
	export default library;
}
