import { useEffect, useState } from 'react';
import { type Connection, Reconnection } from './Reconnection.js';

/** The `Reconnection` of a player, and how far it is. */
export function useReconnection(): { connection: Connection; reconnection: Reconnection } {
	const [connection, setConnection] = useState<Connection>('connected');
	const [reconnection] = useState(() => new Reconnection(setConnection));
	useEffect(() => {
		const onOnline = () => reconnection.tryAgain();
		window.addEventListener('online', onOnline);
		return () => {
			window.removeEventListener('online', onOnline);
			reconnection.end();
		};
	}, [reconnection]);
	return { connection, reconnection };
}
