import { createContext, type ReactNode, useContext, useState } from 'react';
import { type Location, useLocation } from 'react-router';

const FirstLocationContext = createContext<Location | undefined>(undefined);

/** Remembers the location at which the page was opened. It is around all routes. */
export function FirstLocation({ children }: { children: ReactNode }) {
	const location = useLocation();
	const [first] = useState(location);
	return <FirstLocationContext value={first}>{children}</FirstLocationContext>;
}

/** The location at which the page was opened: the same object as `useLocation()` until the first navigation. */
export function useFirstLocation(): Location | undefined {
	return useContext(FirstLocationContext);
}
