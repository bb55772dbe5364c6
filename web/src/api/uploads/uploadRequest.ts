export interface UploadRequest {
	method: 'POST' | 'PATCH' | 'HEAD' | 'DELETE';
	url: string;
	headers: Readonly<Record<string, string>>;
	body?: Blob | FormData;
	onProgress?: (sent: number, total: number) => void;
	signal: AbortSignal;
}

export interface UploadResponse {
	status: number;
	header: (name: string) => string | null;
	/** Parsed JSON, or undefined. */
	body: unknown;
}

export type SendUpload = (request: UploadRequest) => Promise<UploadResponse>;
