"""Signing in with an OpenID Connect provider: authorization code with PKCE."""
