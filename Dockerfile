# The program alone, without a shell, that writes to /work: docker run --user "$(id -u)" -v "$PWD:/work" IMAGE run smoke
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /entrorouter ./cmd/entrorouter

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /entrorouter /entrorouter
WORKDIR /work
ENTRYPOINT ["/entrorouter"]
