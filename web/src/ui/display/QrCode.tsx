import { encodeQR } from 'qr';
import { useMemo } from 'react';
import styles from './QrCode.module.css';

/** A QR code as a picture of the page, dark on white in every theme, with the margin that cameras need. */
export function QrCode({ text, label }: { text: string; label: string }) {
	const rows = useMemo(() => encodeQR(text, 'raw', { ecc: 'medium', border: 4 }), [text]);
	return (
		<svg
			className={styles.code}
			role="img"
			aria-label={label}
			viewBox={`0 0 ${rows.length} ${rows.length}`}
			shapeRendering="crispEdges"
		>
			<rect width="100%" height="100%" fill="#fff" />
			<path fill="#000" d={rows.map(lineOf).join('')} />
		</svg>
	);
}

function lineOf(row: readonly boolean[], y: number): string {
	return row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join('');
}
