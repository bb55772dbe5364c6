import type { ReactNode } from 'react';
import styles from './FormError.module.css';

export interface FormErrorProps {
	/** Its distance to what is around it. */
	className?: string | undefined;
	/** The sentence. */
	children: ReactNode;
	/** The server's message, or what can be done. */
	reason?: ReactNode;
}

/** Why the last attempt of a form failed, announced as soon as it appears. */
export function FormError({ className = '', children, reason }: FormErrorProps) {
	return (
		<div className={`${styles.error} ${className}`} role="alert">
			{children}
			{reason && <div className={styles.reason}>{reason}</div>}
		</div>
	);
}
